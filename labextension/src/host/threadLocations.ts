/**
 * The port between the code that tracks task threads, the marks and the chat panel. Implemented by `ThreadLocations`.
 */

import type { ISignal } from '@lumino/signaling';

import type { Anchor, Session } from '../wire/generated';

/** A thread in an open document. */
export interface IThreadLocation {
  readonly sessionId: string;
  /**
   * Its current anchor. An orphaned one keeps its last range and cell. Has no version: that would cost a hash of the
   * text with every keystroke.
   */
  readonly anchor: Anchor;
  /** Number of its cell, from 1; null for a file and for a removed cell. */
  readonly number: number | null;
  /** First line of its text, from 1; null without text. */
  readonly line: number | null;
}

/** The locations of all threads known to this page. */
export interface IThreadLocations {
  /** Emitted when a location changed, a thread was added or removed, or the current document changed. */
  readonly changed: ISignal<IThreadLocations, void>;
  /** The current document; null when it cannot have threads. */
  readonly currentDocument: string | null;
  /** The current location of a thread; null when its document is not open. */
  of(sessionId: string): IThreadLocation | null;
  /** The threads of an open document in text order; orphaned ones last. */
  in(document: string): readonly IThreadLocation[];
  /** Open the document of a thread and scroll to it; false when the location is lost. */
  reveal(session: Session): Promise<boolean>;
}
