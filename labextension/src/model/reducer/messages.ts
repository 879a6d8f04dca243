/** Folds the user's messages. Used by the reducer only. */

import type {
  Conversation,
  MessageAdd,
  MessageUpdate,
  QueuedView,
  Replaced,
  Restore
} from '../../wire/generated';

/** Add an accepted message to the conversation, or to the queue while a turn runs. */
export function addMessage(
  state: Conversation,
  event: MessageAdd
): Conversation {
  const { message_id, at, text, attachments, context, seq } = event;
  const message = { message_id, at, text, attachments, context };
  if (event.queued) {
    return { ...state, queued: [...state.queued, message] };
  }
  const before = event.replaces
    ? hideFrom(state, event, event.replaces)
    : state; // Logs of older servers have no `replaces`.
  return {
    ...before,
    messages: [...before.messages, { role: 'user', seq, ...message }]
  };
}

/** Hide everything from a replaced message on; its cost stays counted. */
export function hideFrom(
  state: Conversation,
  { seq, at }: MessageAdd | Restore,
  { message_id, seq: first, todo }: Replaced
): Conversation {
  const branch = {
    message_id,
    seq,
    at,
    first_seq: first,
    last_seq: seq - 1
  };
  return {
    ...state,
    messages: state.messages.filter(message => message.seq < first),
    branches: [...state.branches, branch],
    queued: [],
    turn: null,
    pending_call: null,
    todo
  };
}

/** Edit, remove or consume a queued message. */
export function changeQueued(
  state: Conversation,
  event: MessageUpdate
): Conversation {
  const before = state.queued.find(
    item => item.message_id === event.message_id
  );
  if (before === undefined) {
    return state;
  }
  const message: QueuedView = { ...before, text: event.text ?? before.text };
  const others = state.queued.filter(item => item !== before);
  switch (event.status) {
    case 'queued':
      return {
        ...state,
        queued: state.queued.map(item => (item === before ? message : item))
      };
    case 'removed':
      return { ...state, queued: others };
    case 'consumed':
      return {
        ...state,
        queued: others,
        messages: [
          ...state.messages,
          { role: 'user', seq: event.seq, ...message }
        ]
      };
  }
}
