/**
 * The versions of edited messages, which one is shown, and switching between them. Used by the conversation's views.
 */

import * as React from 'react';

import {
  withoutReplaced,
  endOf,
  headsOf,
  conversationShowing,
  versionsOf,
  type IEarlierConversation,
  type Versions
} from '../../model/sessions/messageBranches';
import type { ConversationStore } from '../../model/sessions/conversationStore';
import type { IPendingMessage } from '../../model/sessions/outbox';
import type { Conversation, MessageView } from '../../wire/generated';
import { Button, ErrorNote } from '../../ui/primitives';
import {
  focusComposer,
  useAction,
  useTabContext,
  useSignal,
  useTrans
} from '../../ui/hooks';

/** The versions of this conversation's messages. */
export interface IBranches {
  /** The earlier conversation being shown; null for the current one. */
  readonly earlierVersion: IEarlierConversation | null;
  readonly versions: ReadonlyMap<number, Versions>;
  /** Show the conversation with this version of a message and focus it. */
  readonly show: (seq: number, by: number) => void;
  readonly toNewest: () => void;
  /** The last event before a message was followed by others; null if none followed. */
  readonly endOf: (seq: number) => number | null;
  /** The last event before a message and its other versions. */
  readonly startOf: (seq: number) => number | null;
  /** The version just switched to, and the direction. */
  readonly lastSwitch: { readonly seq: number; readonly by: number } | null;
}

const NONE: readonly IEarlierConversation[] = [];
const NO_VERSIONS: ReadonlyMap<number, Versions> = new Map();

export const BranchesContext = React.createContext<IBranches>({
  earlierVersion: null,
  versions: NO_VERSIONS,
  show: () => undefined,
  toNewest: () => undefined,
  endOf: () => null,
  startOf: () => null,
  lastSwitch: null
});

/** The view to show, and the versions of its messages. */
export function useBranches(
  store: ConversationStore | null,
  view: Conversation,
  outbox: readonly IPendingMessage[]
): { branches: IBranches; shown: Conversation } {
  const past = useSignal(
    store?.changed ?? null,
    () => store?.earlierConversations ?? NONE
  );
  const [walked, setWalk] = React.useState<IShownVersion | null>(null);
  const sent = outbox.at(-1)?.body.id ?? null;
  if (walked !== null && sent !== null && walked.sent !== sent) {
    setWalk(null); // Sending returns to the current conversation.
  }
  const chosen =
    walked === null
      ? null
      : conversationShowing(walked.seq, past, view.messages);
  // Streamed text changes messages, but not which exist.
  const heads = past.length === 0 ? '' : headsOf(view.messages).join(' ');
  const versions = React.useMemo(
    () =>
      past.length === 0
        ? NO_VERSIONS
        : versionsOf(past, heads === '' ? [] : heads.split(' ').map(Number)),
    [past, heads]
  );
  const branches = React.useMemo<IBranches>(() => {
    const newest = (): readonly MessageView[] => store?.view.messages ?? [];
    return {
      earlierVersion: chosen,
      versions,
      show: (seq, by) => setWalk({ seq, by, sent }),
      toNewest: () => setWalk(null),
      endOf: seq => endOf(seq, past, newest()),
      startOf: seq => {
        const line = chosen?.messages ?? newest();
        const before = line.filter(message => message.seq < seq).at(-1);
        return endOf(before?.seq ?? null, past, newest());
      },
      lastSwitch: walked
    };
  }, [store, chosen, versions, past, walked, sent]);
  return { branches, shown: viewOf(view, chosen, outbox) };
}

interface IShownVersion {
  readonly seq: number;
  readonly by: number;
  /** The message being sent at that time. */
  readonly sent: string | null;
}

function viewOf(
  view: Conversation,
  chosen: IEarlierConversation | null,
  outbox: readonly IPendingMessage[]
): Conversation {
  if (chosen !== null) {
    // An earlier version has no running turn.
    return { ...view, messages: [...chosen.messages], turn: null };
  }
  const messages = withoutReplaced(view.messages, outbox);
  return messages === view.messages
    ? view
    : { ...view, messages: messages as MessageView[], turn: null };
}

/** Forks a conversation at an event and opens the copy with text in its input. */
export function useFork(): {
  busy: boolean;
  error: ReturnType<typeof useAction>['error'];
  fork: (seq: number | null, text?: string) => void;
} {
  const { conversations, tab } = useTabContext();
  const { busy, error, run } = useAction();
  const fork = (seq: number | null, text = ''): void => {
    const session = conversations.session(tab);
    if (session === null) {
      return;
    }
    run(async () => {
      await conversations.fork(session.id, seq ?? undefined);
      if (text !== '') {
        conversations.suggest(conversations.active.key, text);
      }
      focusComposer();
    });
  };
  return { busy, error, fork };
}

/** Says that an earlier version is shown, with a button to return. */
export function EarlierVersionBar(): React.JSX.Element | null {
  const trans = useTrans();
  const { earlierVersion, toNewest } = React.useContext(BranchesContext);
  const { busy, error, fork } = useFork();
  if (earlierVersion === null) {
    return null;
  }
  return (
    <div className="shoulders-EarlierVersionBar" role="status">
      <span className="shoulders-EarlierVersionBar-text">
        {trans.__('An earlier version of this conversation')}
      </span>
      <Button onClick={toNewest}>
        {trans.__('Back to the latest version')}
      </Button>
      <Button
        disabled={busy}
        onClick={() => fork(earlierVersion.branch.last_seq)}
      >
        {trans.__('Continue from here in a new conversation')}
      </Button>
      {error !== null && <ErrorNote error={error} />}
    </div>
  );
}
