/**
 * The Word documents that this page shows, for code that reads a selection, marks a range or scrolls to it. Implemented
 * by `word/openPages.ts`; used by the chat's context, inline actions, threads and review.
 */

import type {
  DocumentRegistry,
  IDocumentWidget
} from '@jupyterlab/docregistry';
import type { ISignal } from '@lumino/signaling';

import type { TextRange, WordParagraph } from '../wire/generated';

/** A mark of threads on a range of the text. */
export interface IPageMark {
  readonly id: string;
  readonly from: number;
  readonly to: number;
  readonly classes: string;
  readonly label: string;
}

/** A node to show after a paragraph, with the CSS class that the paragraph gets. */
export interface IParagraphNote {
  /** From 1. */
  readonly paragraph: number;
  readonly node: HTMLElement;
  readonly className: string;
}

/** The end of a selection on the screen. */
export interface ISelectionPosition {
  readonly left: number;
  readonly top: number;
  readonly bottom: number;
  /** Right edge of the page. */
  readonly edge: number;
}

/** One rendered Word document. Offsets are UTF-16 units of `text`. */
export interface IWordPage {
  /** The document widget; its context's shared model holds `text`. */
  readonly widget: IDocumentWidget;
  readonly context: DocumentRegistry.IContext<DocumentRegistry.IModel>;
  /** Path in the workspace, without a drive. */
  readonly path: string;
  /** The texts of the paragraphs with all tracked changes accepted, one on each line; empty until it is loaded. */
  readonly text: string;
  readonly paragraphs: readonly WordParagraph[];
  /** Resolves when the document was first shown; never when it cannot be read. */
  readonly loaded: Promise<void>;
  /** The range selected in the page; null without a selection. */
  readonly selection: TextRange | null;
  /** Where the selection ends; null when that is out of view. */
  selectionPosition(): ISelectionPosition | null;
  /** Scroll to a range and flash it. */
  reveal(range: TextRange): void;
  /** Scroll to a paragraph, by its number from 1, and flash it. */
  revealParagraph(number: number): void;
  /** Show exactly these marks; `opened` gets the ids of the threads of a clicked one. */
  showMarks(
    marks: readonly IPageMark[],
    opened: (ids: readonly string[], mark: DOMRect) => void
  ): void;
  /** Show exactly these notes. */
  showNotes(notes: readonly IParagraphNote[]): void;
}

/** The open Word documents. */
export interface IWordPages {
  /** Emitted when a page was opened, closed, renamed or shown again, or another document became current. */
  readonly changed: ISignal<IWordPages, void>;
  /** Emitted when the selection in a page changed. */
  readonly selectionChanged: ISignal<IWordPages, void>;
  readonly all: readonly IWordPage[];
  /** The page of the current document; null when that is another document. */
  readonly current: IWordPage | null;
  /** A page of a document; null when none is open. */
  at(path: string): IWordPage | null;
}

/** Whether a path names a Word document that opens as a page. */
export function isWordDocument(path: string): boolean {
  return /\.doc[xm]$/i.test(path);
}

/** Offset of a paragraph's text, by its number from 1. */
export function paragraphStart(text: string, number: number): number {
  let at = 0;
  for (let count = 1; count < number; count += 1) {
    const next = text.indexOf('\n', at);
    if (next < 0) {
      return text.length;
    }
    at = next + 1;
  }
  return at;
}
