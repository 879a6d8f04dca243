/** Messages sent while a turn runs: the agent reads them at its next step; until then they can be changed. */

import * as React from 'react';

import type { QueuedView } from '../wire/generated';
import { ErrorNote, IconButton } from './parts';
import { useAction, usePlace, useTrans } from './use';

export function Queue(props: {
  queued: readonly QueuedView[];
}): React.JSX.Element | null {
  const trans = useTrans();
  if (props.queued.length === 0) {
    return null;
  }
  return (
    <ul className="shoulders-Queue" aria-label={trans.__('Queued messages')}>
      {props.queued.map(message => (
        <Queued key={message.message_id} message={message} />
      ))}
    </ul>
  );
}

function Queued({ message }: { message: QueuedView }): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = usePlace();
  const { busy, error, run } = useAction();
  const [text, setText] = React.useState<string | null>(null);
  const { message_id: id } = message;
  const save = (): void => {
    const changed = text?.trim() ?? '';
    setText(null);
    if (changed !== '' && changed !== message.text) {
      run(() => conversations.commands.editQueued(tab, id, changed));
    }
  };
  return (
    <li className="shoulders-Queue-item">
      <span className="shoulders-Queue-label">{trans.__('Queued')}</span>
      {text === null ? (
        <span className="shoulders-Queue-text">{message.text}</span>
      ) : (
        <input
          className="shoulders-Input"
          // The user has just asked for this field.
          autoFocus
          value={text}
          aria-label={trans.__('Queued message')}
          onChange={event => setText(event.target.value)}
          onBlur={save}
          onKeyDown={event => {
            if (event.key === 'Enter') {
              save();
            } else if (event.key === 'Escape') {
              event.stopPropagation();
              setText(null);
            }
          }}
        />
      )}
      <IconButton
        icon="pencil"
        label={trans.__('Edit')}
        disabled={busy}
        onClick={() => setText(message.text)}
      />
      <IconButton
        icon="close"
        label={trans.__('Remove')}
        disabled={busy}
        onClick={() => run(() => conversations.commands.removeQueued(tab, id))}
      />
      {error !== null && <ErrorNote error={error} />}
    </li>
  );
}
