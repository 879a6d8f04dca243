/** The conversations this page shows as tabs: pure rules, and their saved form. Used by `Conversations`. */

import type { Anchor } from '../../wire/generated';

/** An open conversation; one that has not been sent anything yet has no session. */
export interface ITab {
  readonly key: string;
  readonly sessionId: string | null;
  /** Where a thread will be that has not begun. */
  readonly anchor?: Anchor;
}

/** The open conversations in order; there is always an active one. */
export interface ITabs {
  readonly tabs: readonly ITab[];
  readonly active: string;
}

/** One empty conversation. */
export function freshTabs(key: string): ITabs {
  return { tabs: [{ key, sessionId: null }], active: key };
}

/** Show a new, empty conversation; one that is still empty is used again. */
export function addTab(state: ITabs, key: string): ITabs {
  const empty = state.tabs.find(isEmpty);
  return empty === undefined
    ? { tabs: [...state.tabs, { key, sessionId: null }], active: key }
    : { ...state, active: empty.key };
}

/**
 * Show a thread that has not begun; one that waits at the same place is used again. An empty conversation in front gives
 * its place where it is `spare`.
 */
export function beginTab(
  state: ITabs,
  key: string,
  anchor: Anchor,
  spare = false
): ITabs {
  const waiting = state.tabs.find(
    tab => tab.anchor !== undefined && isSamePlace(tab.anchor, anchor)
  );
  if (waiting !== undefined) {
    return { ...state, active: waiting.key };
  }
  const begun: ITab = { key, sessionId: null, anchor };
  const isSpare = (tab: ITab): boolean =>
    spare && tab.key === state.active && isEmpty(tab);
  return {
    tabs: state.tabs.some(isSpare)
      ? state.tabs.map(tab => (isSpare(tab) ? begun : tab))
      : [...state.tabs, begun],
    active: key
  };
}

/** Show a session, in its tab where it has one. */
export function openTab(state: ITabs, key: string, sessionId: string): ITabs {
  const open = state.tabs.find(tab => tab.sessionId === sessionId);
  return open === undefined
    ? { tabs: [...state.tabs, { key, sessionId }], active: key }
    : { ...state, active: open.key };
}

/** Close a tab; the last one leaves an empty conversation with `freshKey`. */
export function closeTab(state: ITabs, key: string, freshKey: string): ITabs {
  const index = state.tabs.findIndex(tab => tab.key === key);
  const tabs = state.tabs.filter(tab => tab.key !== key);
  if (index < 0) {
    return state;
  }
  if (tabs.length === 0) {
    return freshTabs(freshKey);
  }
  const neighbour = tabs[Math.min(index, tabs.length - 1)]?.key ?? state.active;
  return { tabs, active: state.active === key ? neighbour : state.active };
}

/** Make a tab the active one. */
export function activateTab(state: ITabs, key: string): ITabs {
  return state.tabs.some(tab => tab.key === key)
    ? { ...state, active: key }
    : state;
}

/** The active tab moved by `step`, around the ends. */
export function stepTab(state: ITabs, step: number): ITabs {
  const count = state.tabs.length;
  const index = state.tabs.findIndex(tab => tab.key === state.active);
  const next = state.tabs[(index + step + count) % count];
  return next === undefined ? state : { ...state, active: next.key };
}

/** A tab moved by `by` places, not past the ends. */
export function shiftTab(state: ITabs, key: string, by: number): ITabs {
  const from = state.tabs.findIndex(tab => tab.key === key);
  const tab = state.tabs[from];
  if (tab === undefined) {
    return state;
  }
  const tabs = state.tabs.filter(other => other !== tab);
  const to = Math.min(Math.max(from + by, 0), tabs.length);
  return { ...state, tabs: [...tabs.slice(0, to), tab, ...tabs.slice(to)] };
}

/** A tab as it is once its conversation has a session. */
export function withSession({ key }: ITab, sessionId: string): ITab {
  return { key, sessionId };
}

/** A tab as it is when its thread has not begun. */
export function withAnchor({ key }: ITab, anchor: Anchor): ITab {
  return { key, sessionId: null, anchor };
}

/** Whether a tab is for nothing yet. */
export function isEmpty({ sessionId, anchor }: ITab): boolean {
  return sessionId === null && anchor === undefined;
}

/** Whether two threads that have not begun would be the same. */
export function isSamePlace(one: Anchor, other: Anchor): boolean {
  return (
    one.document === other.document &&
    one.cell_id === other.cell_id &&
    one.target === other.target &&
    one.range?.from === other.range?.from &&
    one.range?.to === other.range?.to &&
    one.quote === other.quote
  );
}
