/**
 * Finds a quote that was rewritten, by a formatter or by a user who put other text in its place. Part of
 * `anchors.ts`; the server's version is `core/anchors/reformatted_text.py`.
 */

import type { Anchor, TextRange } from '../../wire/generated';

/** UTF-16 units of context that must match on either side. */
const TAIL = 12;
/** Units a passage may have grown by, in addition to twice its length. */
const GROWTH = 64;
/** Occurrences of a context that are examined. */
const MAX_POSITIONS = 200;
/** Longest text, in units, in which a rewritten quote is searched. */
const MAX_TEXT_LENGTH = 1_000_000;
/** Factor by which the context of a quote may have grown. */
const LOOSE = 4;

const SPACES = /[ \t\r\n]+/g;
const COMMA = /^[ \t\r\n]*,/;
/** The trailing comma that formatters add. */
const LAST_COMMA = /,(?=[)\]}])/g;

type Around = Pick<Anchor, 'quote' | 'prefix' | 'suffix'>;

/**
 * The text without white space and trailing commas, with one kind of quotation marks: equal before and after
 * formatting.
 */
export function folded(text: string): string {
  return text.replace(SPACES, '').replace(/'/g, '"').replace(LAST_COMMA, '');
}

/** Find a quote that a formatter rewrote: compares the folded texts. */
export function findReformatted(
  text: string,
  quote: string,
  most: number
): TextRange[] {
  const wanted = folded(quote);
  if (wanted === '' || text.length > MAX_TEXT_LENGTH) {
    return [];
  }
  if (wanted === ',') {
    return positionsOf(text, ',', most).map(from => ({ from, to: from + 1 }));
  }
  const { letters, positions } = lettersOf(text);
  // In the text, a comma at its end may be one that folding drops.
  const body = wanted.endsWith(',') ? wanted.slice(0, -1) : wanted;
  const found: TextRange[] = [];
  let position = letters.indexOf(body);
  while (position >= 0 && found.length < most) {
    const [from, last] = endsAt(positions, position, body.length);
    const to = body === wanted ? last : behindComma(text, last);
    let next = position + 1;
    if (to > 0) {
      found.push({ from, to });
      next = firstFrom(positions, to, position);
    }
    position = letters.indexOf(body, next);
  }
  return found;
}

/** Positions in the text itself of a range of folded units. */
function endsAt(
  places: readonly number[],
  position: number,
  length: number
): [number, number] {
  const last = places[position + length - 1] ?? 0;
  return [places[position] ?? 0, last + 1];
}

/** The folded text and the position of each of its units. */
function lettersOf(text: string): { letters: string; positions: number[] } {
  const squeezed = text.replace(SPACES, '');
  const leftOut = new Set<number>();
  for (const { index } of squeezed.matchAll(LAST_COMMA)) {
    leftOut.add(index);
  }
  const positions: number[] = [];
  let at = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (!' \t\r\n'.includes(text.charAt(index))) {
      if (!leftOut.has(at)) {
        positions.push(index);
      }
      at += 1;
    }
  }
  return { letters: folded(text), positions };
}

/** Index of the first of ascending positions that is not below a limit; `after` is an index before it. */
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

/** The end of a comma that follows; 0 when something else follows. */
function behindComma(text: string, at: number): number {
  const found = COMMA.exec(text.slice(at));
  return found === null ? 0 : at + found[0].length;
}

/** Share of the context around a passage that differs, apart from formatting. */
export function reformattedContextDifference(
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

/** The text between the prefix and the suffix of a quote; null unless each occurs once, in order. */
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

/** Positions where the tail of a prefix ends. A short prefix is the whole text before the quote. */
function endsOf(text: string, prefix: string): number[] {
  if (prefix.length < TAIL) {
    return text.startsWith(prefix) ? [prefix.length] : [];
  }
  const tail = prefix.slice(-TAIL);
  return positionsOf(text, tail).map(at => at + tail.length);
}

/** Positions where the head of a suffix begins. A short suffix is the whole text after the quote. */
function startsOf(text: string, suffix: string): number[] {
  if (suffix.length < TAIL) {
    return text.endsWith(suffix) ? [text.length - suffix.length] : [];
  }
  return positionsOf(text, suffix.slice(0, TAIL));
}

function positionsOf(
  text: string,
  part: string,
  most = MAX_POSITIONS
): number[] {
  const places: number[] = [];
  let at = text.indexOf(part);
  while (at >= 0 && places.length < most) {
    places.push(at);
    at = text.indexOf(part, at + 1);
  }
  return places;
}

/** The UTF-16 units of a text one by one. */
function* units(text: string): Generator<string> {
  for (let index = 0; index < text.length; index += 1) {
    yield text.charAt(index);
  }
}

function common(one: readonly string[], other: readonly string[]): number {
  const end = one.findIndex((unit, index) => unit !== other[index]);
  return end < 0 ? Math.min(one.length, other.length) : end;
}
