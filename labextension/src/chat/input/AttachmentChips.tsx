/** Attachments of the message being written; each can be opened and removed. */

import * as React from 'react';

import type { IPendingAttachment } from '../../model/conversations/attachmentUploads';
import type { Attachment } from '../../wire/generated';
import { useHost, useTabContext, useTrans } from '../../ui/hooks';
import { Chip } from './Chip';
import { describe } from '../../ui/attachmentLabels';

export function AttachmentChips(props: {
  attachments: readonly Attachment[];
  onRemove: (attachment: Attachment) => void;
}): React.JSX.Element {
  const { cellsOf, openDocument } = useHost();
  const trans = useTrans();
  const { conversations } = useTabContext();
  const titleOf = (id: string): string | undefined =>
    conversations.history.get(id)?.title;
  return (
    <>
      {props.attachments.map(attachment => {
        const shown = describe(attachment, { trans, cellsOf, titleOf });
        const { path, cellId } = shown;
        return (
          <Chip
            key={JSON.stringify(attachment)}
            icon={shown.icon}
            text={shown.label}
            title={shown.title}
            picture={thumbnailOf(attachment)}
            attached
            onOpen={
              path === null ||
              attachment.kind === 'folder' ||
              openDocument === null
                ? undefined
                : () => openDocument(path, cellId)
            }
            onRemove={() => props.onRemove(attachment)}
          />
        );
      })}
    </>
  );
}

/** Pending attachments; each can be cancelled. */
export function PendingChips(props: {
  coming: readonly IPendingAttachment[];
  onCancel: (coming: IPendingAttachment) => void;
}): React.JSX.Element {
  const trans = useTrans();
  return (
    <>
      {props.coming.map(coming => {
        const text =
          coming.name === ''
            ? trans.__('Attaching…')
            : trans.__('Attaching %1…', coming.name);
        return (
          <Chip
            key={coming.id}
            icon="file"
            text={text}
            title={text}
            isPending
            onRemove={() => props.onCancel(coming)}
          />
        );
      })}
    </>
  );
}

function thumbnailOf(attachment: Attachment): string | undefined {
  return attachment.kind === 'image' && attachment.data !== null
    ? `data:${attachment.media_type};base64,${attachment.data}`
    : undefined;
}
