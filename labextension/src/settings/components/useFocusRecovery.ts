/** Moves the focus when its element was removed or disabled. */

import * as React from 'react';

import { focused, isFocusFree } from '../../ui/focus';

/** Whether the focused element was removed or disabled. */
function isFocusLost(): boolean {
  return (
    isFocusFree() || focused()?.matches(':disabled') === true // The browser moves the focus a little later.
  );
}

/** Focuses `next` when `isOver` becomes true and the focus was lost. */
export function useFocusAfter(
  isOver: boolean,
  next: () => HTMLElement | null | undefined
): void {
  const before = React.useRef(isOver);
  const latest = React.useRef(next);
  React.useLayoutEffect(() => {
    latest.current = next;
  });
  React.useEffect(() => {
    const ended = isOver && !before.current;
    before.current = isOver;
    if (ended && isFocusLost()) {
      latest.current()?.focus();
    }
  }, [isOver]);
}

/** When a focused row is removed, focuses the same button in the row that follows, or `rest`. */
export function useFocusAfterRemoval(
  count: number,
  rest: () => HTMLElement | null | undefined
): {
  list: React.RefObject<HTMLOListElement>;
  /** Note the row of a removal. */
  removes: (row: number) => void;
} {
  const list = React.useRef<HTMLOListElement>(null);
  const row = React.useRef<number | null>(null);
  const before = React.useRef(count);
  const latest = React.useRef(rest);
  React.useLayoutEffect(() => {
    latest.current = rest;
  });
  React.useEffect(() => {
    const { current: at } = row;
    const isFewer = count < before.current;
    before.current = count;
    if (isFewer && at !== null && isFocusLost()) {
      row.current = null;
      const rows = list.current?.children;
      const next = rows?.[Math.min(at, count - 1)];
      const buttons = next?.querySelectorAll<HTMLElement>('button:enabled');
      (buttons?.[buttons.length - 1] ?? latest.current())?.focus();
    }
  }, [count]);
  return {
    list,
    removes: index => {
      row.current = index;
    }
  };
}
