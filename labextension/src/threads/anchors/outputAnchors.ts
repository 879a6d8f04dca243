/**
 * Finding the output a thread is about among those its cell has now (chapter 09). Pure; the same as
 * `core/anchors/outputs.py`, with one table for both: `tests/wire/fixtures/output_places.json`. Used by the outputs of
 * threads.
 */

import type { Anchor, OutputPlace } from '../../wire/generated';

/** An output by its place among those of its cell, from 0; null where the cell has none. */
export interface IFoundOutput {
  readonly index: number | null;
  readonly certainty: 'exact' | 'approximate';
}

/** Of a thread that keeps no place. */
const ONLY: OutputPlace = { index: 0, nth: 0, alike: 1 };

/**
 * Which of some outputs, each given by its quote, is meant. One that is quoted alike is meant when it is the only one as it
 * was then; of several, the one of the same place among as many. All else is the likeliest one.
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

/** What is kept of the place of an output among those of its cell. */
export function outputPlace(
  quotes: readonly string[],
  index: number
): OutputPlace {
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
