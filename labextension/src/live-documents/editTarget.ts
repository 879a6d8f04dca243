/**
 * The text an in-place edit changes: a cell of an open notebook or an open text file. All that in-place edits know of
 * JupyterLab.
 */

import type { ISignal } from '@lumino/signaling';

import type { Attachment } from '../wire/generated';
import type { ITextRange } from '../text/proposedText';

/** Why a text cannot be changed. */
export type EditRefusal = 'read-only-document' | 'read-only-cell' | 'gone';

/** A text that an answer replaces, in whole or in part. */
export interface ITextTarget {
  readonly path: string;
  /** Null for a text file. */
  readonly cellId: string | null;
  /** Position of the cell, from 1; null for a file and for a deleted cell. */
  readonly number: number | null;
  /** Whether the text is prose that may contain code fences, not code. */
  readonly isProse: boolean;
  /** The selection; null for the whole text. */
  readonly part: ITextRange | null;
  /** Emitted when the text or its position changed. */
  readonly changed: ISignal<ITextTarget, void>;
  /** The current text; null when its cell or file is gone. */
  text(): string | null;
  /** Why the text cannot be changed now; null when it can. */
  refusal(): EditRefusal | null;
  /** Replace the text in one undo step. */
  write(text: string): void;
  /** Insert a cell below; false where that is not possible. */
  insertBelow(text: string, isMarkdown: boolean): boolean;
  /** Context that the model reads along with the text. */
  surroundings(): Attachment[];
  /** Give the caret back to the text. */
  focus(): void;
}
