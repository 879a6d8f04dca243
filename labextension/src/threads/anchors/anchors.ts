/**
 * Finds the anchor of a task thread in a text that may have changed. Pure; the same rules as `core/anchors/text.py`,
 * with a common table of cases in `tests/wire/fixtures/anchors.json`. Used by the thread tracker. See
 * docs/design/task-threads.md.
 */

import type { Anchor, TextRange } from '../../wire/generated';
import { cellVersion, textVersion } from '../../wire/versions';
import {
  between,
  findReformatted,
  reformattedContextDifference
} from './anchorRewrites';

/** UTF-16 units of context kept on either side of the quote. */
export const CONTEXT = 64;
/** Occurrences of a quote that are compared; with more of them the quote identifies nothing. */
export const MAX_OCCURRENCES = 2_000;
/** Minimum length, in units, from which a text that occurs once identifies its position. */
export const MIN_IDENTIFYING_LENGTH = 12;
/** Share of the context that must match for a certain result. */
const MIN_LIKENESS = 0.5;

/** The quote and context stored in an anchor. */
export type AnchorMemory = Pick<
  Anchor,
  'quote' | 'prefix' | 'suffix' | 'range' | 'version' | 'cell_id' | 'certainty'
>;

/** The position of an anchor in a text; `range` is null when it is lost or covers a whole cell. */
export interface IFound {
  readonly range: TextRange | null;
  readonly certainty: Anchor['certainty'];
}

/** The position is lost. */
export const ORPHANED: IFound = { range: null, certainty: 'orphaned' };

const APPROXIMATE = { certainty: 'approximate' } as const;

/** An occurrence of the quote. */
interface IRated {
  readonly from: number;
  readonly to: number;
  /** Share of the surrounding text that differs. */
  readonly difference: number;
  /** Whether the context on one side matches. */
  readonly isOneSideEqual: boolean;
  readonly distance: number;
}

/** Find the quote of an anchor in a text. An anchor without a range covers a whole cell and is at its cell. */
export function locate(text: string, anchor: AnchorMemory): IFound {
  const { range, quote } = anchor;
  if (range === null) {
    return { range: null, certainty: 'exact' };
  }
  return (
    unchanged(text, anchor, range) ??
    (quote === ''
      ? point(text, anchor, range.from)
      : (bestOccurrence(text, anchor, range.from, () => true) ??
        rewritten(text, anchor, range.from) ??
        ORPHANED))
  );
}

/** Find the quote among given occurrences; certain only if the context matches. */
export function locateAmong(
  text: string,
  anchor: AnchorMemory,
  isMeant: (from: number, to: number) => boolean
): IFound | null {
  const { range, quote } = anchor;
  const place =
    range === null || quote === ''
      ? null
      : bestOccurrence(text, anchor, range.from, isMeant);
  const isLikely =
    place?.range &&
    rated(text, anchor, place.range.from, 0).difference <= MIN_LIKENESS;
  return place && { ...place, ...(isLikely ? {} : APPROXIMATE) };
}

/** Find the text that replaced the quote: the text between its prefix and suffix. */
export function locateBetween(
  text: string,
  anchor: AnchorMemory
): IFound | null {
  return approximate(between(text, anchor));
}

/** The quote and context of a range, for an anchor. */
export function remember(
  text: string,
  { from, to }: TextRange
): Pick<Anchor, 'quote' | 'prefix' | 'suffix'> {
  return {
    quote: text.slice(from, to),
    prefix: text.slice(characterEnd(text, Math.max(0, from - CONTEXT)), from),
    suffix: text.slice(to, characterEnd(text, to + CONTEXT))
  };
}

/** The end of the character that contains an offset. */
export function characterEnd(text: string, offset: number): number {
  const unit = text.charCodeAt(offset);
  return unit >= 0xdc00 && unit <= 0xdfff ? offset + 1 : offset;
}

function unchanged(
  text: string,
  { version, cell_id, quote, certainty }: AnchorMemory,
  range: TextRange
): IFound | null {
  if (version === null || certainty === 'orphaned' || range.to > text.length) {
    return null;
  }
  const isSame =
    version === (cell_id === null ? textVersion(text) : cellVersion(text));
  if (isSame && certainty === 'approximate') {
    return { range, certainty }; // An uncertain anchor stays uncertain.
  }
  return isSame && text.slice(range.from, range.to) === quote
    ? { range, certainty: 'exact' }
    : null;
}

function bestOccurrence(
  text: string,
  anchor: AnchorMemory,
  wanted: number,
  isMeant: (from: number, to: number) => boolean
): IFound | null {
  const { quote } = anchor;
  const places: IRated[] = [];
  for (const from of occurrences(text, quote)) {
    if (isMeant(from, from + quote.length)) {
      places.push(rated(text, anchor, from, wanted));
    }
  }
  const best = likeliest(places);
  if (best === null) {
    return null;
  }
  const range = { from: best.from, to: best.to };
  if (isCertain(anchor, best, places)) {
    return { range, certainty: 'exact' };
  }
  // Other text may have replaced the quote; this occurrence may be unrelated.
  const gap = best.difference > MIN_LIKENESS ? between(text, anchor) : null;
  return approximate(gap !== null && gap.from < gap.to ? gap : range);
}

function rewritten(
  text: string,
  anchor: AnchorMemory,
  wanted: number
): IFound | null {
  const places = findReformatted(text, anchor.quote, MAX_OCCURRENCES).map(
    range => {
      const difference = reformattedContextDifference(text, anchor, range);
      const distance = Math.abs(range.from - wanted);
      return { ...range, difference, isOneSideEqual: false, distance };
    }
  );
  const best = likeliest(places);
  if (best === null) {
    return locateBetween(text, anchor);
  }
  const isSure = places.length === 1 && best.difference <= 1 - MIN_LIKENESS;
  return {
    range: { from: best.from, to: best.to },
    certainty: isSure ? 'exact' : 'approximate'
  };
}

/** All occurrences of a text, overlapping ones included. */
function* occurrences(text: string, quote: string): Generator<number> {
  let position = text.indexOf(quote);
  for (let count = 0; position >= 0 && count < MAX_OCCURRENCES; count += 1) {
    yield position;
    position = text.indexOf(quote, position + 1);
  }
}

function rated(
  text: string,
  { quote, prefix, suffix }: AnchorMemory,
  from: number,
  wanted: number
): IRated {
  const to = from + quote.length;
  const before = commonEnd(
    text.slice(Math.max(0, from - prefix.length), from),
    prefix
  );
  const after = commonStart(text.slice(to, to + suffix.length), suffix);
  const known = prefix.length + suffix.length;
  return {
    from,
    to,
    difference: known === 0 ? 0 : 1 - (before + after) / known,
    isOneSideEqual:
      isLike(before, prefix, from === 0) ||
      isLike(after, suffix, to === text.length),
    distance: Math.abs(from - wanted)
  };
}

/** Whether enough context on one side matches; empty context must still be empty. */
function isLike(same: number, side: string, isEdge: boolean): boolean {
  return side === ''
    ? isEdge
    : same >= Math.min(MIN_IDENTIFYING_LENGTH, side.length);
}

function likeliest(places: readonly IRated[]): IRated | null {
  return places.reduce<IRated | null>(
    (best, place) =>
      best === null ||
      place.difference < best.difference ||
      (place.difference === best.difference && place.distance < best.distance)
        ? place
        : best,
    null
  );
}

function isCertain(
  { quote }: AnchorMemory,
  best: IRated,
  places: readonly IRated[]
): boolean {
  if (places.length >= MAX_OCCURRENCES) {
    return false;
  }
  const isLikely = best.difference <= 1 - MIN_LIKENESS;
  const others = places.filter(place => place !== best);
  return others.length === 0
    ? isLikely ||
        (quote.length >= MIN_IDENTIFYING_LENGTH && best.isOneSideEqual)
    : isLikely && others.every(place => place.difference > best.difference);
}

/** The position of a caret, found by its context. */
function point(
  text: string,
  { prefix, suffix }: AnchorMemory,
  wanted: number
): IFound {
  const around = prefix + suffix;
  if (around === '') {
    return approximate({ from: 0, to: 0 }); // The text was empty.
  }
  const places = [...occurrences(text, around)].map(at => at + prefix.length);
  const [first, ...others] = places;
  if (first === undefined) {
    return ORPHANED;
  }
  const at = others.reduce(
    (best, place) =>
      Math.abs(place - wanted) < Math.abs(best - wanted) ? place : best,
    first
  );
  const certainty = others.length === 0 ? 'exact' : 'approximate';
  return { range: { from: at, to: at }, certainty };
}

function approximate(range: TextRange): IFound;
function approximate(range: TextRange | null): IFound | null;
function approximate(range: TextRange | null): IFound | null {
  return range === null ? null : { range, certainty: 'approximate' };
}

function commonStart(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let count = 0;
  while (count < most && one[count] === other[count]) {
    count += 1;
  }
  return count;
}

function commonEnd(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let count = 0;
  while (count < most && one.at(-1 - count) === other.at(-1 - count)) {
    count += 1;
  }
  return count;
}
