/**
 * Whether the page follows the agent: while a turn runs, until the user scrolls or types in a document, and again on
 * request. Pure; used by the follower.
 */

import type { IAgentActivity } from './agentActivity';

/** `idle` between turns, `off` by the settings. */
export type Mode = 'off' | 'idle' | 'following' | 'paused';

export interface IFollowState {
  readonly mode: Mode;
  /** The running turn of the shown conversation. */
  readonly turn: string | null;
  /** The newest activity of this turn, or of the last one. */
  readonly work: IAgentActivity | null;
}

export type FollowAction =
  | { readonly type: 'set-enabled'; readonly enabled: boolean }
  | { readonly type: 'set-turn'; readonly turn: string | null }
  | { readonly type: 'add-work'; readonly work: IAgentActivity }
  | { readonly type: 'pause' }
  | { readonly type: 'resume' };

/** The initial state. */
export const IDLE: IFollowState = { mode: 'idle', turn: null, work: null };

/** The state after an action; the same object if nothing changes. */
export function reduceFollow(
  state: IFollowState,
  action: FollowAction
): IFollowState {
  switch (action.type) {
    case 'set-enabled':
      return withEnabled(state, action.enabled);
    case 'set-turn':
      return withTurn(state, action.turn);
    case 'add-work':
      return state.turn === null ? state : { ...state, work: action.work };
    case 'pause':
      return state.mode === 'following' ? { ...state, mode: 'paused' } : state;
    case 'resume':
      return state.mode === 'paused' ? { ...state, mode: 'following' } : state;
  }
}

function withEnabled(state: IFollowState, enabled: boolean): IFollowState {
  if (enabled === (state.mode !== 'off')) {
    return state;
  }
  return { ...state, mode: enabled ? modeIn(state.turn) : 'off' };
}

/** A new turn is followed even if the user left the last one: the user has just sent a message. */
function withTurn(state: IFollowState, turn: string | null): IFollowState {
  if (turn === state.turn) {
    return state;
  }
  const mode = state.mode === 'off' ? 'off' : modeIn(turn);
  return { mode, turn, work: turn === null ? state.work : null };
}

function modeIn(turn: string | null): Mode {
  return turn === null ? 'idle' : 'following';
}
