/** Folds events of tool calls and of questions to the user. Used by the reducer only. */

import type {
  ApprovalAnswer,
  ApprovalRequest,
  CallView,
  ClarifyAnswer,
  ClarifyRequest,
  ClarifyView,
  Conversation,
  PartView,
  RunEnd,
  StdinAnswer,
  StdinRequest,
  StdinView,
  ToolCall,
  ToolProgress,
  ToolResult
} from '../../wire/generated';
import { changePart, changeTurn } from './parts';

/** A new call. */
export function callPart(event: ToolCall): CallView {
  return {
    type: 'call',
    call_id: event.call_id,
    tool: event.tool,
    arguments: event.arguments,
    raw: event.raw,
    invalid: event.invalid,
    risk: event.risk,
    external: event.external,
    title: event.title,
    target: event.target,
    state: 'proposed',
    approval: null,
    answer: null,
    progress: [],
    result: null,
    content: [],
    duration_ms: null,
    handle: null
  };
}

/** Change a tool call. */
export function changeCall(
  state: Conversation,
  callId: string,
  change: (call: CallView) => CallView
): Conversation {
  return changePart(state, part =>
    part.type === 'call' && part.call_id === callId ? change(part) : null
  );
}

/** Append output of the running call; consecutive pieces of a channel are joined. */
export function withProgress(call: CallView, event: ToolProgress): CallView {
  const { channel, text } = event;
  const last = call.progress.at(-1);
  const progress =
    last?.channel === channel
      ? [...call.progress.slice(0, -1), { channel, text: last.text + text }]
      : [...call.progress, { channel, text }];
  return { ...call, progress };
}

/** Set the result of a call, or the end of a background run it started. */
export function withResult(
  call: CallView,
  event: ToolResult | RunEnd
): CallView {
  const goesOn = event.type === 'tool-result' && typeof event.run === 'string';
  return {
    ...call,
    state: goesOn ? 'running' : event.status,
    result: event.result,
    content: event.content,
    duration_ms: event.duration_ms,
    handle: event.handle
  };
}

/** Mark the call as waiting for approval. */
export function withRequest(call: CallView, event: ApprovalRequest): CallView {
  return {
    ...call,
    state: 'waiting',
    approval: {
      arguments: event.arguments,
      arguments_hash: event.arguments_hash,
      preview: event.preview,
      language: event.language,
      reason: event.reason,
      scopes: event.scopes,
      sandboxed: event.sandboxed,
      network: event.network,
      read_only: event.read_only,
      reach: event.reach,
      effects: event.effects
    }
  };
}

/** A question of the agent. */
export function clarifyPart(event: ClarifyRequest): ClarifyView {
  const { call_id, question, options, allow_multiple } = event;
  return {
    type: 'clarify',
    call_id,
    question,
    options,
    allow_multiple,
    answer: null
  };
}

/** A cell's input prompt. */
export function stdinPart(event: StdinRequest): StdinView {
  const { call_id, prompt, password, choices } = event;
  return { type: 'stdin', call_id, prompt, password, choices, answered: null };
}

/** Answer the newest open question of a call; null when there is none. A cell may ask for input twice. */
export function withAnswer(
  part: PartView,
  event: ApprovalAnswer | ClarifyAnswer | StdinAnswer
): PartView | null {
  if (!('call_id' in part) || part.call_id !== event.call_id) {
    return null;
  }
  if (part.type === 'call' && event.type === 'approval-answer') {
    const { decision, scope, feedback, by } = event;
    return {
      ...part,
      state: 'proposed',
      answer: { decision, scope, feedback, by }
    };
  }
  if (part.type === 'clarify' && event.type === 'clarify-answer') {
    return { ...part, answer: event.answer };
  }
  if (part.type === 'stdin' && event.type === 'stdin-answer') {
    return { ...part, answered: event.answered };
  }
  return null;
}

/** Clear the pending call when it is this one. */
export function settle(state: Conversation, callId: string): Conversation {
  if (state.pending_call !== callId) {
    return state;
  }
  const settled = { ...state, pending_call: null };
  return state.turn?.state === 'waiting'
    ? changeTurn(settled, { state: 'running' })
    : settled;
}
