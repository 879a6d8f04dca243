/**
 * Maps ranges when texts were split and joined with only white space changed: split or merged cells, indented code.
 * Used by the thread tracker.
 */

import type { TextRange } from '../../wire/generated';
import type { IChange, IUnit } from './sharedTexts';

/** A part of one text. */
export interface IRearrangedPart {
  readonly unit: IUnit;
  readonly range: TextRange;
  /** Whether it is the whole requested range. */
  readonly isWhole: boolean;
}

const SPACE = /\s/;

/** Returns a mapping for ranges in the texts that a change touched; null when more than white space changed. */
export function findRearranged({
  before,
  after
}: IChange):
  ((unit: IUnit, range: TextRange) => IRearrangedPart | null) | null {
  const [old, now] = withoutSame(before, after);
  const places = positionsOf(now);
  const starts = new Map<IUnit, number>();
  let count = 0;
  for (const unit of old) {
    starts.set(unit, count);
    count += visible(unit.source).length;
  }
  const isSame =
    count === places.length &&
    old.map(({ source }) => visible(source)).join('') ===
      now.map(({ source }) => visible(source)).join('');
  if (!isSame) {
    return null;
  }
  return (unit, { from, to }) => {
    const start = starts.get(unit);
    if (start === undefined) {
      return null;
    }
    const first = start + visible(unit.source.slice(0, from)).length;
    const length = visible(unit.source.slice(from, to)).length;
    return length === 0
      ? (pointBehind(places[first - 1]) ?? pointBefore(places[first]))
      : longestPart(places.slice(first, first + length));
  };
}

interface ICharacterPosition {
  readonly unit: IUnit;
  readonly at: number;
}

/** A point behind a character. */
function pointBehind(
  place: ICharacterPosition | undefined
): IRearrangedPart | null {
  return place === undefined ? null : pointAt(place.unit, place.at + 1);
}

/** A point before a character. */
function pointBefore(
  place: ICharacterPosition | undefined
): IRearrangedPart | null {
  return place === undefined ? null : pointAt(place.unit, place.at);
}

function pointAt(unit: IUnit, at: number): IRearrangedPart {
  return { unit, range: { from: at, to: at }, isWhole: false };
}

/** The longest part of the positions within one text. */
function longestPart(
  places: readonly ICharacterPosition[]
): IRearrangedPart | null {
  const byUnit = new Map<IUnit, ICharacterPosition[]>();
  for (const place of places) {
    const list = byUnit.get(place.unit) ?? [];
    byUnit.set(place.unit, list);
    list.push(place);
  }
  const [best] = [...byUnit.values()].sort((a, b) => b.length - a.length);
  const [first, last] = [best?.[0], best?.at(-1)];
  return first === undefined || last === undefined
    ? null
    : {
        unit: first.unit,
        range: { from: first.at, to: last.at + 1 },
        isWhole: byUnit.size === 1
      };
}

/** The texts that differ, from the first such text to the last. */
function withoutSame(
  before: readonly IUnit[],
  after: readonly IUnit[]
): [readonly IUnit[], readonly IUnit[]] {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) {
    start += 1;
  }
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) {
    end += 1;
  }
  return [
    before.slice(start, before.length - end),
    after.slice(start, after.length - end)
  ];
}

function positionsOf(units: readonly IUnit[]): ICharacterPosition[] {
  return units.flatMap(unit =>
    [...indicesOf(unit.source)].map(at => ({ unit, at }))
  );
}

function* indicesOf(source: string): Generator<number> {
  for (let at = 0; at < source.length; at += 1) {
    if (!SPACE.test(source.charAt(at))) {
      yield at;
    }
  }
}

function visible(source: string): string {
  return source.replace(/\s+/g, '');
}
