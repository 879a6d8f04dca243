/**
 * Maps a range when its text was replaced by a similar one, as a formatter, a reload or another program does. Pure;
 * used by the thread tracker.
 */

import fastDiff from 'fast-diff';

import { characterEnd } from '../anchors/anchors';
import type { TextRange } from '../../wire/generated';

/** Changed text, in units, up to which the remains of a range are searched. */
const MAX_CHANGED_LENGTH = 20_000;
/** Share of a range that must be left. */
const MIN_REMAINING_SHARE = 1 / 3;

/** Number of equal units at the beginning and the end of two texts. */
interface IAlignment {
  readonly start: number;
  readonly end: number;
}

/** The new range, and whether no other is as good. */
export interface ITextAlignment {
  readonly range: TextRange;
  readonly isSure: boolean;
}

/** Map a range to another text; null when it is in the changed part. */
export function alignText(
  before: string,
  after: string,
  range: TextRange
): ITextAlignment | null {
  const one = mapped(before, after, range, startFirst(before, after));
  const other = mapped(before, after, range, endFirst(before, after));
  const best = one ?? other;
  return best && { range: best, isSure: one?.from === other?.from };
}

/** The remains of a rewritten range, with the replacements of its beginning and end; null when too little is left. */
export function remainingPart(
  before: string,
  after: string,
  range: TextRange
): TextRange | null {
  if (Math.max(before.length, after.length) > MAX_CHANGED_LENGTH) {
    return null;
  }
  const { from, to } = range;
  const inside = segmentsOf(before, after).filter(
    ({ oldText, length }) => oldText.from < to && oldText.from + length > from
  );
  const same = inside.filter(({ isSame }) => isSame);
  const kept = same
    .map(({ oldText: was, length }) => overlap(range, was.from, length))
    .reduce((sum, each) => sum + each, 0);
  const [first, last] = [inside[0], inside.at(-1)];
  if (
    first === undefined ||
    last === undefined ||
    kept < MIN_REMAINING_SHARE * (to - from)
  ) {
    return null;
  }
  return kept === 0
    ? null
    : { from: startIn(first, from), to: endIn(last, to) };
}

/** A segment of a text and its replacement. */
interface ISegment {
  readonly isSame: boolean;
  readonly oldText: { readonly from: number };
  /** Length in the old text, in units. */
  readonly length: number;
  readonly newText: TextRange;
}

/** The old text segment by segment; insertions belong to the deletion before them. */
function segmentsOf(before: string, after: string): ISegment[] {
  const found: ISegment[] = [];
  let [old, now] = [0, 0];
  for (const [kind, { length }] of fastDiff(before, after)) {
    const last = found.at(-1);
    if (kind === fastDiff.INSERT) {
      if (last !== undefined && !last.isSame && last.newText.to === now) {
        found[found.length - 1] = {
          ...last,
          newText: { from: last.newText.from, to: now + length }
        };
      }
      now += length;
      continue;
    }
    const isSame = kind === fastDiff.EQUAL;
    const to = isSame ? now + length : now;
    found.push({
      isSame,
      oldText: { from: old },
      length,
      newText: { from: now, to }
    });
    old += length;
    now = to;
  }
  return found;
}

function overlap({ from, to }: TextRange, at: number, length: number): number {
  return Math.min(to, at + length) - Math.max(from, at);
}

/** Where a range begins that begins in a segment: the replacement of a word counts as the whole word. */
function startIn({ isSame, oldText, newText }: ISegment, from: number): number {
  return isSame
    ? newText.from + Math.max(0, from - oldText.from)
    : newText.from;
}

function endIn(
  { isSame, oldText, length, newText }: ISegment,
  to: number
): number {
  return isSame
    ? newText.to - Math.max(0, oldText.from + length - to)
    : newText.to;
}

/** The part of a text without its common beginning and end with another text. */
export function newPart(before: string, after: string): TextRange {
  const { start, end } = startFirst(before, after);
  return { from: start, to: after.length - end };
}

/** Repeated text can be matched from the beginning or from the end. */
function startFirst(before: string, after: string): IAlignment {
  const most = Math.min(before.length, after.length);
  const start = commonStart(before, after, most);
  return { start, end: commonEnd(before, after, most - start) };
}

function endFirst(before: string, after: string): IAlignment {
  const most = Math.min(before.length, after.length);
  const end = commonEnd(before, after, most);
  return { start: commonStart(before, after, most - end), end };
}

function mapped(
  before: string,
  after: string,
  { from, to }: TextRange,
  { start, end }: IAlignment
): TextRange | null {
  if (to <= start) {
    return { from, to };
  }
  const by = after.length - before.length;
  return from >= before.length - end ? { from: from + by, to: to + by } : null;
}

/** A range with its surroundings, as in a text that contained it. */
export function around(
  source: string,
  earlier: string,
  { from, to }: TextRange
): TextRange {
  const part = source.slice(from, to);
  let best = { from, to };
  let at = part === '' ? -1 : earlier.indexOf(part);
  while (at >= 0) {
    const before = commonEnd(source.slice(0, from), earlier.slice(0, at), at);
    const rest = earlier.slice(at + part.length);
    const after = commonStart(source.slice(to), rest, rest.length);
    if (before + after > best.to - best.from - part.length) {
      best = {
        from: characterEnd(source, from - before),
        to: characterEnd(source, to + after)
      };
    }
    at = earlier.indexOf(part, at + 1);
  }
  return best;
}

function commonStart(one: string, other: string, most: number): number {
  let count = 0;
  while (count < most && one[count] === other[count]) {
    count += 1;
  }
  return count;
}

function commonEnd(one: string, other: string, most: number): number {
  let count = 0;
  while (
    count < most &&
    one[one.length - 1 - count] === other[other.length - 1 - count]
  ) {
    count += 1;
  }
  return count;
}
