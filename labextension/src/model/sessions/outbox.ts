/**
 * Messages being sent: shown at once, kept until the log has them, and sent again under the same id after a broken
 * connection. Owned by `Conversations`, one per tab.
 */

import type {
  Conversation,
  ErrorInfo,
  SendMessage
} from '../../wire/generated';

/** A message that is not in the log yet; with an error it waits for the user to retry. */
export interface IPendingMessage {
  readonly body: SendMessage;
  readonly error: ErrorInfo | null;
}

/** Add a message to the outbox, or update it. */
export function addPendingMessage(
  outbox: readonly IPendingMessage[],
  item: IPendingMessage
): IPendingMessage[] {
  const known = outbox.some(({ body }) => body.id === item.body.id);
  return known
    ? outbox.map(other => (other.body.id === item.body.id ? item : other))
    : [...outbox, item];
}

/** Remove a message. */
export function removePendingMessage(
  outbox: readonly IPendingMessage[],
  id: string
): IPendingMessage[] {
  return outbox.filter(({ body }) => body.id !== id);
}

/** The messages the log does not have yet. */
export function remainingPendingMessages(
  outbox: readonly IPendingMessage[],
  view: Conversation
): readonly IPendingMessage[] {
  if (outbox.length === 0) {
    return outbox;
  }
  const arrived = new Set([
    ...view.queued.map(message => message.message_id),
    ...view.messages.flatMap(message =>
      message.role === 'user' ? [message.message_id] : []
    )
  ]);
  return outbox.filter(({ body }) => !arrived.has(body.id));
}
