/** What becomes of messages that a stopped turn left queued: they go back into an empty input. Used by the chat. */

import { ApiError } from '../../client/http';
import type { QueuedView } from '../../wire/generated';
import type { IConversations } from './interface';

const CONFLICT = 409;
const NOT_FOUND = 404;

/** What is used of the conversations. */
export type QueueOwner = Pick<
  IConversations,
  | 'draft'
  | 'suggest'
  | 'attachments'
  | 'setAttachments'
  | 'attach'
  | 'attaching'
  | 'commands'
>;

/**
 * Put queued messages back into the input of a tab, if nothing is in it; whether they are there now. The input has them
 * before the queue loses them, so that nothing is lost on the way. Rejects with an `ApiError`.
 */
export async function takeBackQueued(
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
    put(conversations, key, left); // Another page was first with the others.
  }
  return left.length > 0;
}

function isEmpty(conversations: QueueOwner, key: string): boolean {
  return (
    conversations.draft(key).trim() === '' &&
    conversations.attachments(key).length === 0 &&
    conversations.attaching.pending(key).length === 0
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

/** Take a message out of the queue; false when it was read or taken by another page before. */
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
