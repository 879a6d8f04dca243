/** Finds, adds and changes parts of a conversation. Used by the reducers only. */

import type {
  AgentView,
  Conversation,
  Event,
  MessageView,
  PartView,
  ReasoningDelta,
  ReasoningStart,
  TextDelta,
  TextStart,
  TurnView
} from '../../wire/generated';

/** Returns the changed part, or null for other parts. */
export type Change = (part: PartView) => PartView | null;

/** Change the last turn, if any. */
export function changeTurn(
  state: Conversation,
  change: Partial<TurnView>
): Conversation {
  return state.turn === null
    ? state
    : { ...state, turn: { ...state.turn, ...change } };
}

/** The model responded: clear the retry pause. */
export function clearRetry(state: Conversation): Conversation {
  return state.turn?.state === 'retrying'
    ? changeTurn(state, { state: 'running', retry: null })
    : state;
}

/** Add a part to the agent's message. A new message starts after the user's and with each turn. */
export function addPart(
  state: Conversation,
  event: Event,
  part: PartView
): Conversation {
  const last = state.messages.at(-1);
  const grows =
    last?.role === 'agent' &&
    (event.turn_id === null || event.turn_id === last.turn_id);
  if (grows) {
    const grown = { ...last, parts: [...last.parts, part] };
    return { ...state, messages: [...state.messages.slice(0, -1), grown] };
  }
  const message: AgentView = {
    role: 'agent',
    turn_id: event.turn_id,
    seq: event.seq,
    at: event.at,
    parts: [part]
  };
  return { ...state, messages: [...state.messages, message] };
}

/** Start a text or reasoning part. */
export function openPart(
  state: Conversation,
  event: TextStart | ReasoningStart,
  type: 'text' | 'reasoning'
): Conversation {
  const part = { type, part_id: event.part_id, text: '', open: true };
  return addPart(clearRetry(state), event, part);
}

/** Append text to its part. */
export function appendText(
  state: Conversation,
  event: TextDelta | ReasoningDelta
): Conversation {
  return changePart(state, part =>
    'part_id' in part && part.part_id === event.part_id
      ? { ...part, text: part.text + event.text }
      : null
  );
}

/** Change the newest part that `change` accepts. */
export function changePart(state: Conversation, change: Change): Conversation {
  for (let index = state.messages.length - 1; index >= 0; index--) {
    const message = state.messages[index];
    const changed = message === undefined ? null : changeIn(message, change);
    if (changed !== null) {
      return { ...state, messages: replaceAt(state.messages, index, changed) };
    }
  }
  return state;
}

/** Close open parts at the end of a model call; only the last message can have any. */
export function closeParts(state: Conversation): Conversation {
  const last = state.messages.at(-1);
  if (last?.role !== 'agent') {
    return state;
  }
  const parts = last.parts.map(part =>
    'open' in part && part.open ? { ...part, open: false } : part
  );
  return {
    ...state,
    messages: [...state.messages.slice(0, -1), { ...last, parts }]
  };
}

function changeIn(message: MessageView, change: Change): AgentView | null {
  if (message.role !== 'agent') {
    return null;
  }
  for (let index = message.parts.length - 1; index >= 0; index--) {
    const part = message.parts[index];
    const changed = part === undefined ? null : change(part);
    if (changed !== null) {
      return { ...message, parts: replaceAt(message.parts, index, changed) };
    }
  }
  return null;
}

function replaceAt<T>(items: readonly T[], index: number, item: T): T[] {
  const copy = items.slice();
  copy[index] = item;
  return copy;
}
