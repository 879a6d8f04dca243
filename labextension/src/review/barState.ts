/** State of the review bar. Pure; used by `ReviewController`. */

import type { IDocumentChanges } from './navigation';

export interface IReviewState {
  readonly documents: readonly IDocumentChanges[];
  readonly changes: number;
  /** Position of the current change, from 1; 0 without one. */
  readonly place: number;
  /** Neither the current change nor its control is in view. */
  readonly isAway: boolean;
  /** The user opened the list of all changes. */
  readonly isListed: boolean;
}

export const NOTHING: IReviewState = {
  documents: [],
  changes: 0,
  place: 0,
  isAway: false,
  isListed: false
};

/** The visible part of a state. */
export function keyOf(state: IReviewState): string {
  const { documents, place, isAway, isListed } = state;
  const shown = documents.map(({ document, edits, changes }) => [
    document,
    changes,
    ...edits.map(({ id, turn_id }) => [id, turn_id])
  ]);
  return JSON.stringify([place, isAway, isListed, shown]);
}
