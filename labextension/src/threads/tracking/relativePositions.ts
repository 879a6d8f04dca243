/**
 * Pins: places in a shared text that stay with its characters, in every page that shares it, and come back when a
 * deletion is undone. Used by the tracker of threads.
 */

import {
  createAbsolutePositionFromRelativePosition,
  createRelativePositionFromTypeIndex,
  type RelativePosition,
  type Text as YText
} from 'yjs';

import type { TextRange } from '../../wire/generated';
import type { IUnit, Units } from './sharedTexts';

/** A part of a text. */
export interface IRelativeRange extends IEnds {
  /** Whether the text it was put at was the one that is meant. */
  readonly isCertain: boolean;
  /** Whether it is a caret. */
  readonly isPoint: boolean;
  /** Its text when it was looked at last. */
  quote: string;
  /** The ends of that text: characters deleted on their own before their cell was do not come back with the cell. */
  ends: IEnds;
}

/** Where a part begins and ends. */
interface IEnds {
  readonly from: RelativePosition;
  readonly to: RelativePosition;
}

/** Where a pin is now. */
export interface IResolvedRange {
  readonly unit: IUnit;
  readonly range: TextRange;
}

/** Pin a part of a text: what is written beside it stays outside, unless it is uncertain what is meant. */
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

/** Know the text of a certain pin as it is now. */
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

/** Where a pin is; null when nothing is left of its text. */
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

/** Whether most of a pin's text stands beside another place of it: undoing can write again what is there. */
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
