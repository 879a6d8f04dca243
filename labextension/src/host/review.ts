/** The port to the review of the agent's changes; provided by the review plugin. */

import type { ISignal } from '@lumino/signaling';

import type { Decision } from '../editor/hunkDecorations';
import type { PendingEdit } from '../wire/generated';

/** The pending edits of all conversations. */
export interface IReview {
  /** Emitted when the list or the number of changes in it changed. */
  readonly changed: ISignal<unknown, void>;
  /** The same array until the list changes. */
  readonly edits: readonly PendingEdit[];
  /** Number of changes in an edit: for a text those that the editor shows, else one. */
  countOf(edit: PendingEdit): number;
  /** Decide on whole edits, also in open editors. Rejects with an `ApiError`. */
  decide(edits: readonly PendingEdit[], decision: Decision): Promise<void>;
  /** Open the document of an edit at its first change; for removed content, at its position. */
  reveal(edit: PendingEdit): Promise<void>;
}
