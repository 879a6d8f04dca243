/** State of the review bar. Pure; used by `ReviewController`. */

import type { IDocumentChanges } from './navigation';

export interface IReviewState {
  readonly documents: readonly IDocumentChanges[];
  readonly changes: number;
  /** Position of the current change, from 1; 0 without one. */
  readonly position: number;
  /** Neither the current change nor its control is in view. */
  readonly isOutOfView: boolean;
  /** The user opened the list of all changes. */
  readonly isListed: boolean;
}

export const NOTHING: IReviewState = {
  documents: [],
  changes: 0,
  position: 0,
  isOutOfView: false,
  isListed: false
};

/** The visible part of a state. */
export function keyOf(state: IReviewState): string {
  const { documents, position, isOutOfView, isListed } = state;
  const shown = documents.map(({ document, edits, changes }) => [
    document,
    changes,
    ...edits.map(({ id, turn_id }) => [id, turn_id])
  ]);
  return JSON.stringify([position, isOutOfView, isListed, shown]);
}
