/** Attachments of the next message: kept with the draft; added from files, the clipboard and drags. */

import * as React from 'react';

import { ApiError, plainError } from '../../client/http';
import type { IPendingAttachment } from '../../model/conversations/attachmentUploads';
import type { Attachment, ErrorInfo } from '../../wire/generated';
import type { IDraggedContent } from '../../host/inputHost';
import { useHost, useTabContext, useTrans } from '../../ui/hooks';
import { isSupportedImage, toImageAttachment } from './imageAttachments';

/** The attachments of the input, and how to add some. */
export interface IAttachments {
  readonly all: readonly Attachment[];
  /** Pending attachments. */
  readonly pending: readonly IPendingAttachment[];
  /** Why attaching failed. */
  readonly error: ErrorInfo | null;
  readonly add: (attachment: Attachment) => void;
  readonly remove: (attachment: Attachment) => void;
  /** Cancel a pending attachment. */
  readonly cancel: (coming: IPendingAttachment) => void;
  readonly clear: () => void;
  readonly addFiles: (files: Iterable<File>) => void;
  /** Attach what was dragged within JupyterLab. */
  readonly addDragged: (data: IDraggedContent) => void;
  /** Attach pasted data unless it is text; returns whether it was attached. */
  readonly addPasted: (data: DataTransfer) => boolean;
}

export function useAttachments(): IAttachments {
  const host = useHost();
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { uploads } = conversations;
  const all = conversations.attachments(tab);
  const add = (attachment: Attachment): void =>
    conversations.attach(tab, attachment);
  const made = async (
    file: File,
    signal: AbortSignal
  ): Promise<Attachment[]> => {
    if (!isSupportedImage(file)) {
      if (host.upload === null) {
        const words = trans.__(
          'Only images can be attached here. Put %1 in the workspace, then mention it with @.',
          file.name
        );
        throw new ApiError(0, plainError(words, false));
      }
      return [{ kind: 'file', path: await host.upload(file, signal) }];
    }
    try {
      return [await toImageAttachment(file)];
    } catch (reason) {
      const words = trans.__('%1 is not a readable image.', file.name);
      console.warn(words, reason);
      throw new ApiError(0, plainError(words, false));
    }
  };
  const addFiles = (files: Iterable<File>): void => {
    const taken = [...files].map(file => ({
      name: file.name,
      create: (signal: AbortSignal) => made(file, signal)
    }));
    if (taken.length > 0) {
      uploads.add(tab, taken);
    }
  };
  return {
    all,
    pending: uploads.pending(tab),
    error: uploads.error(tab),
    add,
    remove: gone =>
      conversations.setAttachments(
        tab,
        all.filter(attachment => attachment !== gone)
      ),
    cancel: ({ id }) => uploads.cancel(tab, id),
    clear: () => conversations.setAttachments(tab, []),
    addFiles,
    addDragged: data => {
      const made = host.attachmentsOfDrag(data); // Read now: JupyterLab empties it when the drag ends.
      made.catch(() => undefined); // `add` reports the error in its turn.
      uploads.add(tab, [{ name: '', create: () => made }]);
    },
    addPasted: data => {
      const text = data.getData('text/plain');
      const cells = host.copiedCells(text);
      cells.forEach(add);
      const files = [...data.files];
      // A table copied from an office program includes an image, but the text is meant.
      const taken =
        files.length > 0 && (text === '' || !files.every(isSupportedImage));
      if (cells.length === 0 && taken) {
        addFiles(files);
      }
      return cells.length > 0 || taken;
    }
  };
}

/** Whether something that can be attached is dragged over the conversation; attaches drops. */
export function useDrop(
  place: React.RefObject<HTMLElement>,
  taken: Pick<IAttachments, 'addFiles' | 'addDragged'>,
  closed: boolean
): boolean {
  const [over, setOver] = React.useState(false);
  const latest = React.useRef(taken);
  React.useLayoutEffect(() => {
    latest.current = taken;
  });
  React.useEffect(() => {
    const area = place.current?.closest<HTMLElement>('.shoulders-Conversation');
    if (closed || area === null || area === undefined) {
      return;
    }
    const onDrag = (event: Event): void => {
      const data = carriedBy(event);
      if (data === null) {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
      setOver(/enter|over$/.test(event.type));
      data.hover();
      if (event.type.endsWith('drop')) {
        data.drop(latest.current);
      }
    };
    DRAGS.forEach(type => area.addEventListener(type, onDrag));
    return () => DRAGS.forEach(type => area.removeEventListener(type, onDrag));
  }, [place, closed]);
  return over;
}

// The browser's drag events, and Lumino's, which JupyterLab uses for files and cells.
const DRAGS = ['dragenter', 'dragover', 'dragleave', 'drop'].flatMap(type => [
  type,
  `lm-${type}`
]);

interface ICarry {
  /** Marks the drop as allowed. */
  hover: () => void;
  drop: (taken: Pick<IAttachments, 'addFiles' | 'addDragged'>) => void;
}

/** A drag event of Lumino. */
type LabDrag = Event & {
  mimeData: IDraggedContent;
  proposedAction: string;
  dropAction: string;
};

function carriedBy(event: Event): ICarry | null {
  if ('mimeData' in event) {
    const drag = event as LabDrag; // Lumino sends no other events with these names.
    return {
      hover: () => {
        drag.dropAction = drag.proposedAction;
      },
      drop: taken => taken.addDragged(drag.mimeData)
    };
  }
  const transfer = event instanceof DragEvent ? event.dataTransfer : null;
  if (transfer?.types.includes('Files') !== true) {
    return null;
  }
  return {
    hover: () => {
      transfer.dropEffect = 'copy';
    },
    drop: taken => taken.addFiles(transfer.files)
  };
}
