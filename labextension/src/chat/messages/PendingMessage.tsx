/** A message that the server has not taken yet. */

import * as React from 'react';

import type { IPendingMessage } from '../../model/sessions/outbox';
import { Button, ErrorNote } from '../../ui/primitives';
import { useTabContext, useTrans } from '../../ui/hooks';
import { UserBubble } from './UserMessage';

export function PendingMessage({
  item
}: {
  item: IPendingMessage;
}): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { body, error } = item;
  return (
    <div className="shoulders-Message shoulders-mod-user">
      <UserBubble
        text={body.text}
        attachments={body.attachments ?? []}
        context={body.context ?? null}
        className={error === null ? 'shoulders-mod-sending' : ''}
      />
      {error !== null && (
        <ErrorNote error={error}>
          <Button
            kind="primary"
            onClick={() => void conversations.sendAgain(tab, body.id)}
          >
            {trans.__('Send again')}
          </Button>
          <Button onClick={() => conversations.discard(tab, body.id)}>
            {trans.__('Discard')}
          </Button>
        </ErrorNote>
      )}
    </div>
  );
}
