/** Where an answer is put: a cell of an open notebook or an open text file. What the edits in place know of the lab. */

import type { ISignal } from '@lumino/signaling';

import type { Attachment } from '../wire/generated';
import type { ITextRange } from '../text/proposedText';

/** Why a text cannot be changed. */
export type EditRefusal = 'read-only-document' | 'read-only-cell' | 'gone';

/** A text that an answer replaces, in whole or in part. */
export interface ITextTarget {
  readonly path: string;
  /** Null: a text file. */
  readonly cellId: string | null;
  /** The place of the cell, from 1; null of a file, and of a cell that is gone. */
  readonly number: number | null;
  /** Whether it is text that may have fences in it, not code. */
  readonly isProse: boolean;
  /** What the user selected; null: all of it. */
  readonly part: ITextRange | null;
  /** Emitted when the text changed, or where it stands. */
  readonly changed: ISignal<ITextTarget, void>;
  /** The text now; null when it is gone. */
  text(): string | null;
  /** Why it cannot be changed now; null when it can. */
  refusal(): EditRefusal | null;
  /** Put a text there, as one step of its undo. */
  write(text: string): void;
  /** Make a new cell below; false where that is not possible. */
  insertBelow(text: string, isMarkdown: boolean): boolean;
  /** What the model reads beside the text itself. */
  surroundings(): Attachment[];
  /** Give the caret back to the text. */
  focus(): void;
}
