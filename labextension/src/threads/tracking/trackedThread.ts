/** The tracker's state of one thread. */

import type { IFound, AnchorMemory } from '../anchors/anchors';
import type { Anchor, TextRange } from '../../wire/generated';
import type { IRelativeRange } from './relativePositions';
import type { IUnit } from './sharedTexts';

/** Relative ranges kept of a thread: as many undo steps find their text again. */
const MAX_PINS = 12;

/** The position of a thread. */
export interface IThreadPosition {
  readonly unit: IUnit;
  /** Null for a whole cell. */
  readonly range: TextRange | null;
  readonly certainty: 'exact' | 'approximate';
}

/** A tracked thread. */
export interface ITrackedThread {
  readonly id: string;
  readonly target: Anchor['target'];
  /** The output it is about. */
  readonly output: Anchor['output'];
  /** Its position; null when it is lost. */
  position: IThreadPosition | null;
  /** Its last known position. */
  last: IThreadPosition | null;
  /** The quote and its context when the position was last certain. */
  memory: AnchorMemory;
  /** The quote before parts of it were deleted; empty when nothing was. */
  earlier: string;
  /** The newest last. */
  pins: readonly IRelativeRange[];
  /** For a thread about a whole cell: the ids its cell had, the newest last. */
  cells: readonly string[];
}

/** A thread whose position is not known yet. */
export function threadOf(id: string, anchor: Anchor): ITrackedThread {
  return {
    id,
    target: anchor.target,
    output: anchor.output,
    position: null,
    last: null,
    memory: anchor,
    earlier: '',
    pins: [],
    cells: anchor.cell_id === null ? [] : [anchor.cell_id]
  };
}

/** Whether a thread is about a whole cell or its output. */
export function isOfCell({ memory }: ITrackedThread): boolean {
  return memory.range === null;
}

/** The relative ranges of a thread with a new one. */
export function withRelativeRange(
  pins: readonly IRelativeRange[],
  pin: IRelativeRange
): readonly IRelativeRange[] {
  return [...pins, pin].slice(-MAX_PINS);
}

/** The position of a thread from a position in a text; null when there is none. */
export function threadPosition(
  unit: IUnit,
  found: IFound | null
): IThreadPosition | null {
  if (found === null || found.certainty === 'orphaned') {
    return null;
  }
  return { unit, range: found.range, certainty: found.certainty };
}

export function isExact(
  spot: IThreadPosition | null | undefined
): spot is IThreadPosition {
  return spot?.certainty === 'exact';
}
