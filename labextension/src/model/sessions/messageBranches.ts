/**
 * The versions of edited or restored messages, and the conversation each belongs to. Pure; used by `ConversationStore`,
 * which keeps the conversations left, and by the views.
 */

import type { BranchView, MessageView } from '../../wire/generated';
import type { IPendingMessage } from './outbox';

/** A conversation that was left by an edit or a restore. */
export interface IEarlierConversation {
  readonly branch: BranchView;
  readonly messages: readonly MessageView[];
}

/** The versions of a message, oldest first, by their `seq`. */
export type Versions = readonly number[];

/** The user's messages, by their `seq`. */
export function headsOf(messages: readonly MessageView[]): number[] {
  return messages.flatMap(({ role, seq }) => (role === 'user' ? seq : []));
}

/**
 * The versions of each user message that has several, by the `seq` of each version. `heads` are the user's messages in
 * the current conversation.
 */
export function versionsOf(
  past: readonly IEarlierConversation[],
  heads: readonly number[]
): ReadonlyMap<number, Versions> {
  const places = new Map<number, Set<number>>();
  for (const line of [...past.map(left => headsOf(left.messages)), heads]) {
    let before = 0; // Versions of a message follow the same user message.
    for (const seq of line) {
      places.set(before, (places.get(before) ?? new Set()).add(seq));
      before = seq;
    }
  }
  const several = [...places.values()].filter(({ size }) => size > 1);
  return new Map(
    several.flatMap(place => {
      const versions = [...place].sort((a, b) => a - b);
      return versions.map(seq => [seq, versions] as const);
    })
  );
}

/** The last conversation that shows a message; null for the current one. */
export function conversationShowing(
  seq: number,
  past: readonly IEarlierConversation[],
  messages: readonly MessageView[]
): IEarlierConversation | null {
  const holds = (line: readonly MessageView[]): boolean =>
    headsOf(line).includes(seq);
  return holds(messages)
    ? null
    : ([...past].reverse().find(left => holds(left.messages)) ?? null);
}

/**
 * The last event before another message followed a message, where a fork ends; null when none followed. Without a
 * message, the last event before the first one.
 */
export function endOf(
  seq: number | null,
  past: readonly IEarlierConversation[],
  messages: readonly MessageView[]
): number | null {
  const later = [...past.map(left => left.messages), messages]
    .flat()
    .map(message => message.seq)
    .filter(other => other > (seq ?? 0));
  return later.length === 0 ? null : Math.min(...later) - 1;
}

/** The messages without those that an edit in the outbox replaces. */
export function withoutReplaced(
  messages: readonly MessageView[],
  outbox: readonly IPendingMessage[]
): readonly MessageView[] {
  const edited = new Set(
    outbox.flatMap(({ body, error }) =>
      error === null && body.replaces ? [body.replaces] : []
    )
  );
  const from = messages.findIndex(
    message => message.role === 'user' && edited.has(message.message_id)
  );
  return from < 0 ? messages : messages.slice(0, from);
}
