/** What the bar of the review shows. Pure; used by the review of the page. */

import type { IDocumentChanges } from './navigation';

/** What a bar shows. */
export interface IReviewState {
  readonly documents: readonly IDocumentChanges[];
  readonly changes: number;
  /** The change in front, from 1; 0 when there is none. */
  readonly place: number;
  /** The change in front is not in view, nor is its control. */
  readonly isAway: boolean;
  /** The user wants to see the list of all. */
  readonly isListed: boolean;
}

export const NOTHING: IReviewState = {
  documents: [],
  changes: 0,
  place: 0,
  isAway: false,
  isListed: false
};

/** What of a state is shown. */
export function keyOf(state: IReviewState): string {
  const { documents, place, isAway, isListed } = state;
  const shown = documents.map(({ document, edits, changes }) => [
    document,
    changes,
    ...edits.map(({ id, turn_id }) => [id, turn_id])
  ]);
  return JSON.stringify([place, isAway, isListed, shown]);
}
