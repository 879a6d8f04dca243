/** Finds the cell that a quote is from. Used where the cell's id is gone. */

/** Where a quote was shortened. */
const ELLIPSES = /^…|…$/gu;

/** Index of the first text that has every line of a quote; -1 without one. */
export function cellWithText(texts: readonly string[], quote: string): number {
  const lines = quote
    .split('\n')
    .map(line => line.replace(ELLIPSES, '').trim())
    .filter(line => line !== '');
  return lines.length === 0
    ? -1
    : texts.findIndex(text => lines.every(line => text.includes(line)));
}
