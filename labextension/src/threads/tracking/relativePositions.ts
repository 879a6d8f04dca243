/**
 * Relative ranges: they stay with the characters of a shared text in every page that shares it, and return when a
 * deletion is undone. Used by the thread tracker.
 */

import {
  createAbsolutePositionFromRelativePosition,
  createRelativePositionFromTypeIndex,
  type RelativePosition,
  type Text as YText
} from 'yjs';

import type { TextRange } from '../../wire/generated';
import type { IUnit, Units } from './sharedTexts';

/** A range of a text. */
export interface IRelativeRange extends IEnds {
  /** Whether the range covers the intended text. */
  readonly isCertain: boolean;
  /** Whether it is a caret. */
  readonly isPoint: boolean;
  /** The text at the last update. */
  quote: string;
  /** The ends of that text: characters deleted before their cell do not come back with it. */
  ends: IEnds;
}

/** The start and end of a range. */
interface IEnds {
  readonly from: RelativePosition;
  readonly to: RelativePosition;
}

/** The current position of a relative range. */
export interface IResolvedRange {
  readonly unit: IUnit;
  readonly range: TextRange;
}

/** Make a relative range. Text written beside it stays outside unless the range is uncertain. */
export function createRelativeRange(
  { text, source }: IUnit,
  { from, to }: TextRange,
  isCertain: boolean
): IRelativeRange {
  const isPoint = isCertain && from === to;
  const ends = {
    from: at(text, from, isCertain ? 0 : -1),
    to: at(text, to, isCertain && !isPoint ? -1 : 0)
  };
  const quote = source.slice(from, to);
  return { ...ends, isCertain, isPoint, quote, ends };
}

/** Store the current text of a certain range. */
export function updateRelativeRange(
  pin: IRelativeRange,
  unit: IUnit,
  range: TextRange
): void {
  const quote = unit.source.slice(range.from, range.to);
  if (pin.quote !== quote) {
    pin.quote = quote;
    pin.ends = createRelativeRange(unit, range, true).ends;
  }
}

/** The current position of a range; null when none of its text is left. */
export function resolveRelativeRange(
  pin: IRelativeRange,
  units: Units
): IResolvedRange | null {
  const from = found(pin.from, units) ?? found(pin.ends.from, units);
  const to = found(pin.to, units) ?? found(pin.ends.to, units);
  return from !== null && to?.unit === from.unit
    ? between(pin, from, to)
    : null;
}

/** Whether most of a range's text occurs beside another position of it: undo can write existing text again. */
export function isDuplicateRange(
  { quote }: IRelativeRange,
  { unit, range: { from, to } }: IResolvedRange,
  other: IResolvedRange
): boolean {
  return (
    unit === other.unit &&
    (to <= other.range.from || other.range.to <= from) &&
    unit.source.slice(from, to).trim() !== '' &&
    2 * (to - from) >= quote.length
  );
}

interface IPoint {
  readonly unit: IUnit;
  readonly index: number;
}

function between(
  pin: IRelativeRange,
  from: IPoint,
  to: IPoint
): IResolvedRange | null {
  const mayBeEmpty = pin.isPoint || !pin.isCertain;
  return from.index < to.index || (mayBeEmpty && from.index === to.index)
    ? { unit: from.unit, range: { from: from.index, to: to.index } }
    : null;
}

function found(position: RelativePosition, units: Units): IPoint | null {
  const [first] = units.values();
  if (!first?.text.doc) {
    return null;
  }
  const place = createAbsolutePositionFromRelativePosition(
    position,
    first.text.doc
  );
  const unit = place === null ? undefined : units.get(place.type);
  return place === null || unit === undefined
    ? null
    : { unit, index: place.index };
}

function at(text: YText, index: number, side: number): RelativePosition {
  return createRelativePositionFromTypeIndex(text, index, side);
}
