/** What the tracker knows of one thread. */

import type { IFound, Remembered } from '../anchors/anchors';
import type { Anchor, TextRange } from '../../wire/generated';
import type { IRelativeRange } from './relativePositions';
import type { IUnit } from './sharedTexts';

/** Pins kept of a thread: as many undone steps find their text again. */
const MOST_PINS = 12;

/** Where a thread is. */
export interface ISpot {
  readonly unit: IUnit;
  /** Null of a whole cell. */
  readonly range: TextRange | null;
  readonly certainty: 'exact' | 'approximate';
}

/** A thread that is followed. */
export interface ITrackedThread {
  readonly id: string;
  readonly target: Anchor['target'];
  /** Which output it is about. */
  readonly output: Anchor['output'];
  /** Where it is; null when it is not there any more. */
  spot: ISpot | null;
  /** Where it was last. */
  last: ISpot | null;
  /** The quote and what stood around it when its place was certain. */
  memory: Remembered;
  /** The quote before parts of it were deleted; empty where nothing was. */
  earlier: string;
  /** The latest last. */
  pins: readonly IRelativeRange[];
  /** The cells it was in, the latest last; of one that is about a whole cell. */
  cells: readonly string[];
}

/** A thread whose place is to be found. */
export function threadOf(id: string, anchor: Anchor): ITrackedThread {
  return {
    id,
    target: anchor.target,
    output: anchor.output,
    spot: null,
    last: null,
    memory: anchor,
    earlier: '',
    pins: [],
    cells: anchor.cell_id === null ? [] : [anchor.cell_id]
  };
}

/** Whether a thread is about a whole cell or what it printed. */
export function isOfCell({ memory }: ITrackedThread): boolean {
  return memory.range === null;
}

/** The pins of a thread with one more. */
export function withRelativeRange(
  pins: readonly IRelativeRange[],
  pin: IRelativeRange
): readonly IRelativeRange[] {
  return [...pins, pin].slice(-MOST_PINS);
}

/** A place in a text as the place of a thread; null when it is none. */
export function spotOf(unit: IUnit, found: IFound | null): ISpot | null {
  if (found === null || found.certainty === 'orphaned') {
    return null;
  }
  return { unit, range: found.range, certainty: found.certainty };
}
