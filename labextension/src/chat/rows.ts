/** Lists of rows that are walked through with the arrow keys: the history, and the threads. */

import type * as React from 'react';

/** What is focused in each row. */
export function rowsIn(
  place: HTMLElement | null,
  selector: string
): HTMLElement[] {
  return [...(place?.querySelectorAll<HTMLElement>(selector) ?? [])];
}

/** Move the focus from row to row, and from the first to the field above; whether the key was for that. */
export function moveRow(
  place: HTMLElement | null,
  selector: string,
  { key, target }: React.KeyboardEvent
): boolean {
  const step = { ArrowDown: 1, ArrowUp: -1 }[key];
  const all = rowsIn(place, selector);
  const at = all.findIndex(row => row === target);
  if (step === undefined || at < 0) {
    return false;
  }
  const next = all[at + step];
  if (next === undefined && step < 0) {
    place?.querySelector('input')?.focus();
  }
  next?.focus();
  return true;
}
