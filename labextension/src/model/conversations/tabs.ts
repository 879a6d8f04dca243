/** Pure rules for the tabs of this page, and their saved form. Used by `Conversations`. */

import type { Anchor } from '../../wire/generated';

/** An open conversation; it has no session before its first message. */
export interface ITab {
  readonly key: string;
  readonly sessionId: string | null;
  /** Anchor of a thread not created yet. */
  readonly anchor?: Anchor;
}

/** The tabs in order; one is always active. */
export interface ITabs {
  readonly tabs: readonly ITab[];
  readonly active: string;
}

/** One empty conversation. */
export function freshTabs(key: string): ITabs {
  return { tabs: [{ key, sessionId: null }], active: key };
}

/** Show an empty conversation, reusing one that exists. */
export function addTab(state: ITabs, key: string): ITabs {
  const empty = state.tabs.find(isEmpty);
  return empty === undefined
    ? { tabs: [...state.tabs, { key, sessionId: null }], active: key }
    : { ...state, active: empty.key };
}

/**
 * Show a thread not created yet, reusing one with the same anchor. It replaces the active tab when that is empty and
 * `spare`.
 */
export function openThreadTab(
  state: ITabs,
  key: string,
  anchor: Anchor,
  spare = false
): ITabs {
  const waiting = state.tabs.find(
    tab => tab.anchor !== undefined && isSameAnchor(tab.anchor, anchor)
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

/** Show a session, in its tab when it has one. */
export function openTab(state: ITabs, key: string, sessionId: string): ITabs {
  const open = state.tabs.find(tab => tab.sessionId === sessionId);
  return open === undefined
    ? { tabs: [...state.tabs, { key, sessionId }], active: key }
    : { ...state, active: open.key };
}

/** Close a tab; after the last one an empty conversation with `freshKey` remains. */
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

/** Activate the tab `step` positions away, wrapping around. */
export function stepTab(state: ITabs, step: number): ITabs {
  const count = state.tabs.length;
  const index = state.tabs.findIndex(tab => tab.key === state.active);
  const next = state.tabs[(index + step + count) % count];
  return next === undefined ? state : { ...state, active: next.key };
}

/** Move a tab by `by` positions, not past the ends. */
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

/** The tab with a session. */
export function withSession({ key }: ITab, sessionId: string): ITab {
  return { key, sessionId };
}

/** The tab of a thread not created yet. */
export function withAnchor({ key }: ITab, anchor: Anchor): ITab {
  return { key, sessionId: null, anchor };
}

/** Whether a tab has neither session nor anchor. */
export function isEmpty({ sessionId, anchor }: ITab): boolean {
  return sessionId === null && anchor === undefined;
}

/** Whether two threads not created yet have the same anchor. */
export function isSameAnchor(one: Anchor, other: Anchor): boolean {
  return (
    one.document === other.document &&
    one.cell_id === other.cell_id &&
    one.target === other.target &&
    one.range?.from === other.range?.from &&
    one.range?.to === other.range?.to &&
    one.quote === other.quote
  );
}
