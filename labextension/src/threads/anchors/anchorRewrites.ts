/**
 * Finding the place of a quote that was written anew: by a formatter, or by somebody who put other text in its place.
 * Part of `anchors`; `core/anchors/reformatted_text.py` is the same.
 */

import type { Anchor, TextRange } from '../../wire/generated';

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

const SPACES = /[ \t\r\n]+/g;
const COMMA = /^[ \t\r\n]*,/;
/** The comma that formatters put after the last of several. */
const LAST_COMMA = /,(?=[)\]}])/g;

type Around = Pick<Anchor, 'quote' | 'prefix' | 'suffix'>;

/** A text as formatters leave it: without white space and last commas, with one kind of quote characters. */
export function folded(text: string): string {
  return text.replace(SPACES, '').replace(/'/g, '"').replace(LAST_COMMA, '');
}

/** Where a quote stands that a formatter has rewritten: both are compared as formatters leave them. */
export function findReformatted(
  text: string,
  quote: string,
  most: number
): TextRange[] {
  const wanted = folded(quote);
  if (wanted === '' || text.length > LONGEST) {
    return [];
  }
  if (wanted === ',') {
    return placesOf(text, ',', most).map(from => ({ from, to: from + 1 }));
  }
  const { letters, places } = lettersOf(text);
  // In the text, a comma at its end may be one that folding leaves out.
  const body = wanted.endsWith(',') ? wanted.slice(0, -1) : wanted;
  const found: TextRange[] = [];
  let position = letters.indexOf(body);
  while (position >= 0 && found.length < most) {
    const [from, last] = endsAt(places, position, body.length);
    const to = body === wanted ? last : behindComma(text, last);
    let next = position + 1;
    if (to > 0) {
      found.push({ from, to });
      next = firstFrom(places, to, position);
    }
    position = letters.indexOf(body, next);
  }
  return found;
}

/** Where so many units begin and end in the text itself. */
function endsAt(
  places: readonly number[],
  position: number,
  length: number
): [number, number] {
  const last = places[position + length - 1] ?? 0;
  return [places[position] ?? 0, last + 1];
}

/** A text as `folded` does, and where each of its units stands. */
function lettersOf(text: string): { letters: string; places: number[] } {
  const squeezed = text.replace(SPACES, '');
  const leftOut = new Set<number>();
  for (const { index } of squeezed.matchAll(LAST_COMMA)) {
    leftOut.add(index);
  }
  const places: number[] = [];
  let at = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (!' \t\r\n'.includes(text.charAt(index))) {
      if (!leftOut.has(at)) {
        places.push(index);
      }
      at += 1;
    }
  }
  return { letters: folded(text), places };
}

/** The first of ascending places that is not before one; `after` is a position before it. */
function firstFrom(
  places: readonly number[],
  place: number,
  after: number
): number {
  let position = after;
  while (position < places.length && (places[position] ?? 0) < place) {
    position += 1;
  }
  return position;
}

/** Where a comma ends that comes next; 0 where something else does. */
function behindComma(text: string, at: number): number {
  const found = COMMA.exec(text.slice(at));
  return found === null ? 0 : at + found[0].length;
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

function placesOf(text: string, part: string, most = MOST): number[] {
  const places: number[] = [];
  let at = text.indexOf(part);
  while (at >= 0 && places.length < most) {
    places.push(at);
    at = text.indexOf(part, at + 1);
  }
  return places;
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
