/**
 * The panel's words in a notebook's output where the lab's translations are out of reach: English. Used by
 * `pageServices`.
 */

import type { TranslationBundle } from '@jupyterlab/translation';

function filled(text: string, args: readonly unknown[]): string {
  return text.replace(/%(\d+)/g, (place, number: string) => {
    const index = Number(number) - 1;
    return index in args ? String(args[index]) : place;
  });
}

/** What of the lab's bundle the views use. */
export const ENGLISH_STRINGS = {
  __: (text: string, ...args: unknown[]) => filled(text, args),
  _n: (one: string, many: string, n: number, ...args: unknown[]) =>
    filled(n === 1 ? one : many, [n, ...args])
} as unknown as TranslationBundle;
