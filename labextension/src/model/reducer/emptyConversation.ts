/** The initial state of the reducer, separate because the reducer is loaded with the first log. */

import type { Conversation } from '../../wire/generated';

/** The conversation before its first event. */
export const EMPTY: Conversation = {
  session: null,
  last_seq: 0,
  messages: [],
  branches: [],
  queued: [],
  turn: null,
  pending_call: null,
  changes: [],
  todo: [],
  agent: null,
  context_tokens: null,
  context_window: null,
  usage: {
    input_tokens: 0,
    output_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    cost_micro_usd: 0,
    month_micro_usd: null,
    month_limit_micro_usd: null
  }
};
