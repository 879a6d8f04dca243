/**
 * The versions of messages that were edited, or gone back to, and sent anew: which there are, and what conversation
 * each belongs to. Pure; used by `ConversationStore`, which keeps what was left, and by the views.
 */

import type { BranchView, MessageView } from '../../wire/generated';
import type { IPendingMessage } from './outbox';

/** A conversation as it stood when one went back in it. */
export interface IPast {
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
 * The versions of each message of the user that has several, by the `seq` of each of them; `heads` are the messages of
 * the user in the conversation that goes on.
 */
export function versionsOf(
  past: readonly IPast[],
  heads: readonly number[]
): ReadonlyMap<number, Versions> {
  const places = new Map<number, Set<number>>();
  for (const line of [...past.map(left => headsOf(left.messages)), heads]) {
    let before = 0; // Versions of a message follow the same message of the user.
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

/** The last conversation that shows a message; null for the one that goes on. */
export function lineWith(
  seq: number,
  past: readonly IPast[],
  messages: readonly MessageView[]
): IPast | null {
  const holds = (line: readonly MessageView[]): boolean =>
    headsOf(line).includes(seq);
  return holds(messages)
    ? null
    : ([...past].reverse().find(left => holds(left.messages)) ?? null);
}

/**
 * The last event before anything followed a message, where a fork begins anew; null when nothing has. Without a
 * message, the last one before the first.
 */
export function endOf(
  seq: number | null,
  past: readonly IPast[],
  messages: readonly MessageView[]
): number | null {
  const later = [...past.map(left => left.messages), messages]
    .flat()
    .map(message => message.seq)
    .filter(other => other > (seq ?? 0));
  return later.length === 0 ? null : Math.min(...later) - 1;
}

/** The messages without those that an edited one on its way will take the place of. */
export function beforeEdits(
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
