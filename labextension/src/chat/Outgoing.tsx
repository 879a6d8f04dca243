/** A message that the server has not taken yet. */

import * as React from 'react';

import type { IOutgoing } from '../model/outbox';
import { Button, ErrorNote } from './parts';
import { usePlace, useTrans } from './use';
import { UserBubble } from './UserBubble';

export function Outgoing({ item }: { item: IOutgoing }): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = usePlace();
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
