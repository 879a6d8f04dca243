/** Where the focus goes in the settings when the button that had it is gone or can do no more. */

import * as React from 'react';

import { focused, isFocusFree } from '../../ui/focus';

/** Whether what had the focus is gone, or was switched off. */
function isFocusLost(): boolean {
  return (
    isFocusFree() || focused()?.matches(':disabled') === true // The browser takes the focus from it a little later.
  );
}

/** Calls `next` once `isOver`, after it was not, when the focus was lost over it. */
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

/** When a row of a list is gone with the focus: the button of the same kind in the row that took its place, or `rest`. */
export function useFocusAfterRows(
  count: number,
  rest: () => HTMLElement | null | undefined
): {
  list: React.RefObject<HTMLOListElement>;
  /** Note in which row something was removed. */
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
