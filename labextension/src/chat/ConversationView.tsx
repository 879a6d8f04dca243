/** One conversation: its messages, its status, and the input. */

import * as React from 'react';

import type { ConversationStore } from '../model/sessions/conversationStore';
import {
  remainingPendingMessages,
  type IPendingMessage
} from '../model/sessions/outbox';
import {
  isRunning,
  pendingInputOf
} from '../model/view-models/conversationItems';
import { EMPTY } from '../model/reducer/conversation';
import type { Conversation, ErrorInfo } from '../wire/generated';
import { ClosedBanner, closedBecause } from './Banners';
import { ClientBar, ClientNote, NoCalls } from './ClientConversation';
import { BudgetForm } from './BudgetForm';
import {
  BranchesContext,
  EarlierVersionBar,
  useBranches
} from './messages/branches';
import { Composer } from './input/Composer';
import { EmptyState } from './empty-state/EmptyState';
import { MessageList } from './messages/MessageList';
import { Button, Dots, ErrorNote } from '../ui/primitives';
import { MessageQueue } from './MessageQueue';
import { StatusLine } from './StatusLine';
import { SubAgentBar } from './SubAgentBar';
import { ResolveHint } from './threads/ResolveHint';
import { ThreadBar } from './threads/ThreadBar';
import { TodoList } from './TodoList';
import {
  useLeadingClient,
  useTabContext,
  useSignal,
  useTrans,
  PendingInputContext,
  type IConversationState,
  focusComposer,
  useAction
} from '../ui/hooks';
import { restoreQueued } from '../model/conversations/queuedMessages';

export function ConversationView(): React.JSX.Element {
  const { conversations, tab } = useTabContext();
  const store = conversations.store(tab);
  const view = useSignal(store?.changed ?? null, () => store?.view ?? EMPTY);
  const outbox = remainingPendingMessages(conversations.outbox(tab), view);
  const running = isRunning(view);
  const { stop, error } = useStop(view);
  const closed = closedBecause(conversations.isDeleted(tab), store, outbox);
  const [budget, setBudget] = React.useState(false);
  const openBudget = React.useCallback(() => setBudget(true), []);
  const waits = useConversationState(view, openBudget);
  const { branches, shown } = useBranches(store, view, outbox);
  return (
    <PendingInputContext.Provider value={waits}>
      <div
        className="shoulders-Conversation"
        onKeyDown={event => {
          const isFree =
            !event.defaultPrevented && !event.nativeEvent.isComposing;
          if (event.key === 'Escape' && running && isFree) {
            event.preventDefault();
            stop();
          }
        }}
      >
        <ThreadBar />
        <SubAgentBar />
        <ClientBar />
        <ClosedBanner because={closed} />
        <BranchesContext.Provider value={branches}>
          <PendingInputContext.Provider
            value={branches.earlierVersion === null ? waits : NO_PENDING_INPUT}
          >
            <Main
              store={store}
              view={shown}
              outbox={branches.earlierVersion === null ? outbox : EMPTY_OUTBOX}
            />
          </PendingInputContext.Provider>
          <EarlierVersionBar />
        </BranchesContext.Provider>
        <TodoList items={view.todo} />
        {running && <StatusLine view={view} onStop={stop} />}
        {error !== null && <ErrorNote error={error} />}
        {budget && <BudgetForm onClose={() => setBudget(false)} />}
        <ResolveHint view={view} />
        <MessageQueue queued={view.queued} isQueueIdle={isLeft(view)} />
        <Foot view={store === null ? null : view} closed={closed !== null} />
      </div>
    </PendingInputContext.Provider>
  );
}

/** The input; none where another program leads the conversation. */
function Foot(props: {
  view: Conversation | null;
  closed: boolean;
}): React.JSX.Element {
  const client = useLeadingClient();
  return client === null ? (
    <Composer {...props} />
  ) : (
    <ClientNote client={client} />
  );
}

/** Whether the turn ended and the queue waits for the user. */
function isLeft(view: Conversation): boolean {
  return view.turn === null || view.turn.state === 'ended';
}

/** An earlier version of a conversation is read-only. */
const EMPTY_OUTBOX: readonly IPendingMessage[] = [];
const NO_PENDING_INPUT: IConversationState = {
  call: null,
  pause: null,
  results: false,
  editBudget: () => undefined
};

/** The messages, or what is shown before the first one. */
function Main(props: {
  store: ConversationStore | null;
  view: Conversation;
  outbox: readonly IPendingMessage[];
}): React.JSX.Element {
  const { store, view, outbox } = props;
  const client = useLeadingClient();
  if (store?.isReady === false) {
    return <Loading store={store} />;
  }
  if (view.messages.length > 0 || outbox.length > 0) {
    return <MessageList view={view} outbox={outbox} />;
  }
  return client === null ? <EmptyState /> : <NoCalls client={client} />;
}

/** What waits for the user, memoised. */
function useConversationState(
  view: Conversation,
  editBudget: () => void
): IConversationState {
  const { call, pause, results } = pendingInputOf(view);
  return React.useMemo(
    () => ({ call, pause, results, editBudget }),
    [call, pause, results, editBudget]
  );
}

/** The log is loading, or failed to load. */
function Loading({ store }: { store: ConversationStore }): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
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

function useStop(view: Conversation): {
  stop: () => void;
  error: ErrorInfo | null;
} {
  const { conversations, tab } = useTabContext();
  const { error, run } = useAction();
  const stopping = React.useRef(false);
  const running = isRunning(view);
  const { queued } = view;
  React.useEffect(() => {
    if (running || !stopping.current) {
      return;
    }
    stopping.current = false;
    run(async () => {
      if (await restoreQueued(conversations, tab, queued)) {
        focusComposer();
      }
    });
  }, [running, queued, conversations, tab, run]);
  const stop = (): void =>
    run(async () => {
      stopping.current = true;
      try {
        await conversations.commands.cancel(tab);
      } catch (failure) {
        stopping.current = false;
        throw failure;
      }
    });
  return { stop, error };
}
