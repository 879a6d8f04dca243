/**
 * Where a part of a text went when the text was replaced by one that is mostly the same, as a formatter, a reload or another
 * program does. Pure; used by the tracker of threads.
 */

import fastDiff from 'fast-diff';

import type { TextRange } from '../wire/generated';

/** Units of changed text up to which what is left of a part is looked for. */
const MOST = 20_000;
/** Share of a part that has to be left for it to be there. */
const LEFT = 1 / 3;

/** How two texts are the same: so many units at their beginning and at their end. */
interface IAlignment {
  readonly start: number;
  readonly end: number;
}

/** The place of a part, and whether no other is as good. */
export interface IAligned {
  readonly range: TextRange;
  readonly isSure: boolean;
}

/** Where a part of a text is in another; null when it is in what was changed. */
export function aligned(
  before: string,
  after: string,
  range: TextRange
): IAligned | null {
  const one = mapped(before, after, range, startFirst(before, after));
  const other = mapped(before, after, range, endFirst(before, after));
  const best = one ?? other;
  return best && { range: best, isSure: one?.from === other?.from };
}

/** What is left of a part of a text that was written anew; null when it is too little. */
export function remains(
  before: string,
  after: string,
  { from, to }: TextRange
): TextRange | null {
  if (Math.max(before.length, after.length) > MOST) {
    return null;
  }
  let [old, now, kept, start, end] = [0, 0, 0, -1, -1];
  for (const [kind, { length }] of fastDiff(before, after)) {
    const first = Math.max(from, old);
    const last = Math.min(to, old + length);
    if (kind === fastDiff.EQUAL && first < last) {
      start = start < 0 ? now + first - old : start;
      end = now + last - old;
      kept += last - first;
    }
    old += kind === fastDiff.INSERT ? 0 : length;
    now += kind === fastDiff.DELETE ? 0 : length;
  }
  return kept > 0 && kept >= LEFT * (to - from)
    ? { from: start, to: end }
    : null;
}

/** What of a text is new, by the beginning and the end that another text has in common with it. */
export function newPart(before: string, after: string): TextRange {
  const { start, end } = startFirst(before, after);
  return { from: start, to: after.length - end };
}

/** Repeated text can be counted to what is the same at the beginning, or at the end. */
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
