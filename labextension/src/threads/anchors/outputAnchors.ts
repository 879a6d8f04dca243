/**
 * Finds the output of a thread among the current outputs of its cell. Pure; the same rules as
 * `core/anchors/outputs.py`, with a common table of cases in `tests/wire/fixtures/output_places.json`. Used by
 * `cellOutputs.ts`.
 */

import type { Anchor, OutputLocation } from '../../wire/generated';

/** The index of an output among those of its cell, from 0; null when the cell has none. */
export interface IFoundOutput {
  readonly index: number | null;
  readonly certainty: 'exact' | 'approximate';
}

/** For a thread without a stored position. */
const ONLY: OutputLocation = { index: 0, nth: 0, alike: 1 };

/**
 * Find an output by its quote. A single match is certain if it was single before; of several, the one at the same
 * position among as many. All other results are approximate.
 */
export function locateOutput(
  quotes: readonly string[],
  { quote, output }: Pick<Anchor, 'quote' | 'output'>
): IFoundOutput {
  const alike = alikeIn(quotes, quote);
  const { index: wanted, nth, alike: count } = output ?? ONLY;
  const found = alike[Math.min(nth, alike.length - 1)];
  if (found === undefined) {
    const index = Math.min(wanted, quotes.length - 1);
    return { index: index < 0 ? null : index, certainty: 'approximate' };
  }
  const isKnown = alike.length === count && nth < alike.length;
  return { index: found, certainty: isKnown ? 'exact' : 'approximate' };
}

/** The stored position of an output among those of its cell. */
export function outputPositionOf(
  quotes: readonly string[],
  index: number
): OutputLocation {
  const alike = alikeIn(quotes, quotes[index] ?? '');
  const nth = Math.max(0, alike.indexOf(index));
  return { index, nth, alike: Math.max(1, alike.length) };
}

function alikeIn(quotes: readonly string[], quote: string): readonly number[] {
  const same = indicesOf(quotes, text => text === quote);
  return same.length > 0 || quote === ''
    ? same
    : indicesOf(quotes, text => text.startsWith(quote));
}

function indicesOf(
  quotes: readonly string[],
  isWanted: (text: string) => boolean
): number[] {
  return quotes.flatMap((text, index) => (isWanted(text) ? [index] : []));
}
