/**
 * Finding the place of a quote that was written anew: by a formatter, or by somebody who put other text in its place.
 * Part of `anchors`; `core/anchor_rewrites.py` is the same.
 */

import type { Anchor, TextRange } from '../wire/generated';

/** Units of the text on either side that have to stand there. */
const TAIL = 12;
/** Units of text a place may have grown by, beside twice what it had. */
const GROWTH = 64;
/** Places of a side that are looked at. */
const MOST = 200;
/** Units of a text up to which a rewritten quote is looked for. */
const LONGEST = 1_000_000;
/** How much longer than before the text around a quote may be. */
const LOOSE = 4;

const SPACE = '[ \\t\\r\\n]*';
const SPACES = /[ \t\r\n]+/g;
/** The comma that formatters put after the last of several. */
const LAST_COMMA = /,(?=[)\]}])/g;

type Around = Pick<Anchor, 'quote' | 'prefix' | 'suffix'>;

/** A text as formatters leave it: without white space and last commas, with one kind of quote characters. */
export function folded(text: string): string {
  return text.replace(SPACES, '').replace(/'/g, '"').replace(LAST_COMMA, '');
}

/** Where a quote stands that a formatter has rewritten. */
export function findReformatted(
  text: string,
  quote: string,
  most: number
): TextRange[] {
  const units = folded(quote);
  if (units === '' || text.length > LONGEST) {
    return [];
  }
  const found: TextRange[] = [];
  for (const match of text.matchAll(patternOf(units))) {
    found.push({ from: match.index, to: match.index + match[0].length });
    if (found.length === most) {
      break;
    }
  }
  return found;
}

/** The share of the text around a place that is not as it was, but for how it is written. */
export function unlikeReformatted(
  text: string,
  { prefix, suffix }: Around,
  { from, to }: TextRange
): number {
  const [wantedBefore, wantedAfter] = [folded(prefix), folded(suffix)];
  const known = wantedBefore.length + wantedAfter.length;
  const start = Math.max(0, from - LOOSE * prefix.length);
  const before = [...units(folded(text.slice(start, from)))].reverse();
  const after = [...units(folded(text.slice(to, to + LOOSE * suffix.length)))];
  const same =
    common(before, [...units(wantedBefore)].reverse()) +
    common(after, [...units(wantedAfter)]);
  return known === 0 ? 0 : 1 - same / known;
}

/** What stands between the texts a quote stood between; null unless both stand there in order, once. */
export function between(
  text: string,
  { quote, prefix, suffix }: Around
): TextRange | null {
  if (prefix === '' && suffix === '') {
    return null;
  }
  const most = 2 * quote.length + GROWTH;
  const ends = endsOf(text, prefix);
  const starts = startsOf(text, suffix);
  const gaps = ends.flatMap(from =>
    starts
      .filter(to => to >= from && to - from <= most)
      .map(to => ({ from, to }))
  );
  const [gap, ...others] = gaps;
  return gap === undefined || others.length > 0 ? null : gap;
}

/** Where the tail of a prefix ends; a shorter prefix is all there was before the quote. */
function endsOf(text: string, prefix: string): number[] {
  if (prefix.length < TAIL) {
    return text.startsWith(prefix) ? [prefix.length] : [];
  }
  const tail = prefix.slice(-TAIL);
  return placesOf(text, tail).map(at => at + tail.length);
}

/** Where the head of a suffix begins; a shorter suffix is all there was after the quote. */
function startsOf(text: string, suffix: string): number[] {
  if (suffix.length < TAIL) {
    return text.endsWith(suffix) ? [text.length - suffix.length] : [];
  }
  return placesOf(text, suffix.slice(0, TAIL));
}

function placesOf(text: string, part: string): number[] {
  const places: number[] = [];
  let at = text.indexOf(part);
  while (at >= 0 && places.length < MOST) {
    places.push(at);
    at = text.indexOf(part, at + 1);
  }
  return places;
}

function patternOf(quote: string): RegExp {
  const parts = [...units(quote)].map((unit, index) => {
    const comma = index > 0 && ')]}'.includes(unit) ? `(?:,${SPACE})?` : '';
    const space = index === 0 ? '' : SPACE;
    return space + comma + (unit === '"' ? `["']` : escaped(unit));
  });
  return new RegExp(parts.join(''), 'g');
}

function escaped(unit: string): string {
  return unit.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** The units of a text one by one, as lengths count them. */
function* units(text: string): Generator<string> {
  for (let index = 0; index < text.length; index += 1) {
    yield text.charAt(index);
  }
}

function common(one: readonly string[], other: readonly string[]): number {
  const end = one.findIndex((unit, index) => unit !== other[index]);
  return end < 0 ? Math.min(one.length, other.length) : end;
}
