/** Puts the messages that a stopped turn left in the queue back into an empty input. Used by the chat. */

import { ApiError } from '../../client/http';
import type { QueuedView } from '../../wire/generated';
import type { IConversations } from './interface';

const CONFLICT = 409;
const NOT_FOUND = 404;

/** The members of `Conversations` used here. */
export type QueueOwner = Pick<
  IConversations,
  | 'draft'
  | 'suggest'
  | 'attachments'
  | 'setAttachments'
  | 'attach'
  | 'uploads'
  | 'commands'
>;

/**
 * Move queued messages into the input of a tab if it is empty; return whether they are there now. The input is filled
 * before the queue is emptied, so that nothing is lost in between. Rejects with an `ApiError`.
 */
export async function restoreQueued(
  conversations: QueueOwner,
  key: string,
  queued: readonly QueuedView[]
): Promise<boolean> {
  if (queued.length === 0 || !isEmpty(conversations, key)) {
    return false;
  }
  const text = put(conversations, key, queued);
  const left: QueuedView[] = [];
  for (const message of queued) {
    if (await isRemoved(conversations, key, message)) {
      left.push(message);
    }
  }
  if (left.length < queued.length && conversations.draft(key) === text) {
    put(conversations, key, left); // Another page took the others first.
  }
  return left.length > 0;
}

function isEmpty(conversations: QueueOwner, key: string): boolean {
  return (
    conversations.draft(key).trim() === '' &&
    conversations.attachments(key).length === 0 &&
    conversations.uploads.pending(key).length === 0
  );
}

function put(
  conversations: QueueOwner,
  key: string,
  messages: readonly QueuedView[]
): string {
  const text = messages
    .map(message => message.text.trim())
    .filter(part => part !== '')
    .join('\n\n');
  conversations.setAttachments(key, []);
  messages
    .flatMap(({ attachments }) => attachments)
    .forEach(attachment => conversations.attach(key, attachment));
  conversations.suggest(key, text);
  return text;
}

/** Remove a message from the queue; false when it was consumed or removed by another page. */
async function isRemoved(
  { commands }: QueueOwner,
  key: string,
  { message_id }: QueuedView
): Promise<boolean> {
  try {
    await commands.removeQueued(key, message_id);
    return true;
  } catch (error) {
    if (
      error instanceof ApiError &&
      (error.status === CONFLICT || error.status === NOT_FOUND)
    ) {
      return false;
    }
    throw error;
  }
}
