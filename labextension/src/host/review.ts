/** What other parts of the page may ask of the review of the agent's changes; the review plugin provides it. */

import type { ISignal } from '@lumino/signaling';

import type { Decision } from '../editor/hunkDecorations';
import type { PendingEdit } from '../wire/generated';

/** The edits that await keep or undo, whichever conversation made them. */
export interface IReview {
  /** Emitted when the list is another, or how many changes are in it. */
  readonly changed: ISignal<unknown, void>;
  /** The same array while it is the same list. */
  readonly edits: readonly PendingEdit[];
  /** How many changes an edit is: of a text those that the editor shows, else one. */
  countOf(edit: PendingEdit): number;
  /** Decide on whole edits, in the open editors too. Rejects with an `ApiError`. */
  decide(edits: readonly PendingEdit[], decision: Decision): Promise<void>;
  /** Open the document of an edit at its first change; of what is gone, at its place. */
  reveal(edit: PendingEdit): Promise<void>;
}
