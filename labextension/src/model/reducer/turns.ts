/** Folds turns and their cost. Used by the reducer only. */

import type {
  Conversation,
  RetryWait,
  StepStart,
  TurnEnd,
  TurnResume,
  TurnStart,
  TurnView,
  UsageUpdate,
  UsageView
} from '../../wire/generated';
import { addPart, changeTurn, closeParts } from './parts';

export function startTurn(state: Conversation, event: TurnStart): Conversation {
  return { ...state, turn: newTurn(event) };
}

/** Resume an interrupted turn. */
export function resumeTurn(
  state: Conversation,
  event: TurnResume
): Conversation {
  const { step, started_at } = state.turn ?? newTurn(event);
  const turn = { ...newTurn(event), step, started_at };
  return closeParts({ ...state, turn });
}

/** Start a model call. */
export function startStep(state: Conversation, event: StepStart): Conversation {
  const next = changeTurn(state, {
    state: 'running',
    step: event.step,
    step_limit: event.limit,
    retry: null
  });
  return closeParts({
    ...next,
    context_tokens: event.tokens_used,
    context_window: event.window
  });
}

/** Pause before a retry. */
export function waitRetry(state: Conversation, event: RetryWait): Conversation {
  const { attempt, delay_ms, reason, at } = event;
  const retry = { attempt, delay_ms, reason, at };
  return closeParts(changeTurn(state, { state: 'retrying', retry }));
}

export function endTurn(state: Conversation, event: TurnEnd): Conversation {
  const { turn_id, exit, error, summary } = event;
  const ended = changeTurn(
    { ...state, pending_call: null },
    { state: 'ended', retry: null, exit }
  );
  return addPart(closeParts(ended), event, {
    type: 'end',
    turn_id,
    exit,
    error,
    summary
  });
}

/** Add the usage of a model call; a sum with an unknown cost is unknown. */
export function addUsage(total: UsageView, event: UsageUpdate): UsageView {
  const { usage, cost_micro_usd, month_micro_usd, month_limit_micro_usd } =
    event;
  return {
    input_tokens: total.input_tokens + usage.input_tokens,
    output_tokens: total.output_tokens + usage.output_tokens,
    cache_read_tokens: total.cache_read_tokens + usage.cache_read_tokens,
    cache_write_tokens: total.cache_write_tokens + usage.cache_write_tokens,
    reasoning_tokens: total.reasoning_tokens + usage.reasoning_tokens,
    cost_micro_usd:
      total.cost_micro_usd === null || cost_micro_usd === null
        ? null
        : total.cost_micro_usd + cost_micro_usd,
    month_micro_usd,
    month_limit_micro_usd
  };
}

function newTurn(event: TurnStart | TurnResume): TurnView {
  const { turn_id, model, provider, mode, step_limit, at } = event;
  return {
    turn_id,
    state: 'running',
    model,
    provider,
    mode,
    step: 0,
    step_limit,
    started_at: at,
    retry: null,
    exit: null
  };
}
