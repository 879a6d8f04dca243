/** One conversation: its messages, what is going on, and the input. */

import * as React from 'react';

import type { ConversationStore } from '../model/conversation';
import { stillOutgoing } from '../model/outbox';
import { isRunning } from '../model/present';
import { EMPTY } from '../model/reduce';
import { Composer } from './Composer';
import { EmptyState } from './EmptyState';
import { MessageList } from './MessageList';
import { Button, Dots, ErrorNote } from './parts';
import { Queue } from './Queue';
import { StatusLine } from './StatusLine';
import { TodoList } from './TodoList';
import { useAction, usePlace, useSignal, useTrans } from './use';

export function ConversationView(): React.JSX.Element {
  const { conversations, tab } = usePlace();
  const store = conversations.store(tab);
  const view = useSignal(store?.changed ?? null, () => store?.view ?? EMPTY);
  const outbox = stillOutgoing(conversations.outbox(tab), view);
  const { error, run } = useAction();
  const running = isRunning(view);
  const stop = (): void => run(() => conversations.cancel(tab));
  const empty = view.messages.length === 0 && outbox.length === 0;
  return (
    <div
      className="shoulders-Conversation"
      onKeyDown={event => {
        if (event.key === 'Escape' && running && !event.defaultPrevented) {
          event.preventDefault();
          stop();
        }
      }}
    >
      {store?.isReady === false ? (
        <Loading store={store} />
      ) : empty ? (
        <EmptyState />
      ) : (
        <MessageList view={view} outbox={outbox} />
      )}
      <TodoList items={view.todo} />
      {running && <StatusLine view={view} onStop={stop} />}
      {error !== null && <ErrorNote error={error} />}
      <Queue queued={view.queued} />
      <Composer view={store === null ? null : view} running={running} />
    </div>
  );
}

/** The log is being read, or could not be. */
function Loading({ store }: { store: ConversationStore }): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = usePlace();
  const error = useSignal(store.changed, () => store.error);
  return (
    <div className="shoulders-Messages shoulders-Loading">
      {error === null ? (
        <Dots />
      ) : (
        <ErrorNote error={error}>
          <Button kind="primary" onClick={() => void store.load()}>
            {trans.__('Try again')}
          </Button>
          <Button onClick={() => conversations.close(tab)}>
            {trans.__('Close')}
          </Button>
        </ErrorNote>
      )}
    </div>
  );
}
