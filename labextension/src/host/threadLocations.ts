/**
 * Where the task threads of this page are: the port between what follows the text, what marks it, and the chat panel.
 * Implemented by `ThreadLocations`.
 */

import type { ISignal } from '@lumino/signaling';

import type { Anchor, Session } from '../wire/generated';

/** A thread in a document that is open in this page. */
export interface IThreadLocation {
  readonly sessionId: string;
  /**
   * Where it is now; its `certainty` tells whether that is known. Of one that is orphaned, range and cell are those it had
   * last. The version is not told: it would cost a hash of the text with every key.
   */
  readonly anchor: Anchor;
  /** The place of its cell, from 1; null of a file, and of a cell that is gone. */
  readonly number: number | null;
  /** The line its text begins in, from 1; null where it has none. */
  readonly line: number | null;
}

/** The places of all threads this page knows. */
export interface IThreadLocations {
  /** Emitted when a place is another, a thread came or went, or another document is in front. */
  readonly changed: ISignal<IThreadLocations, void>;
  /** The document in front; null when it can hold no threads. */
  readonly here: string | null;
  /** The live place of a thread; null when its document is not open. */
  of(sessionId: string): IThreadLocation | null;
  /** The threads of an open document, in the order of its text; those not found again last. */
  in(document: string): readonly IThreadLocation[];
  /** Open the document of a thread with its place in view; false when the place is gone. */
  reveal(session: Session): Promise<boolean>;
}
