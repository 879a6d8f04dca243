/**
 * The selection in a Word page. It stays, and stays visible, when the focus moves to the chat; a click into the page
 * ends it. Used by `PageView`.
 */

import type { IDisposable } from '@lumino/disposable';

import type { ISelectionPosition } from '../live-documents/wordPages';
import type { TextRange } from '../wire/generated';
import type { PageText } from './pageText';

/** Name of the highlight in the style sheet. */
const HIGHLIGHT = 'shoulders-word-selection';

/** The page around the selection. */
export interface ISelectionParts {
  readonly body: HTMLElement;
  readonly scroller: HTMLElement;
  readonly changed: () => void;
}

export class PageSelection implements IDisposable {
  constructor(
    private readonly parts: ISelectionParts,
    private readonly text: () => PageText | null
  ) {
    document.addEventListener('selectionchange', this.readLater);
  }

  /** The selected range of the text; null without a selection. */
  range: TextRange | null = null;

  isDisposed = false;

  /** The selection now; the browser reports changes later. */
  current(): TextRange | null {
    this.read();
    return this.range;
  }

  dispose(): void {
    if (!this.isDisposed) {
      this.isDisposed = true;
      document.removeEventListener('selectionchange', this.readLater);
      this.highlight(null);
    }
  }

  /** The document is another one: its offsets are others. */
  documentChanged(): void {
    this.set(null);
    this.readLater();
  }

  /** Where the selection on the screen ends; null when that is out of view or not in this page. */
  position(): ISelectionPosition | null {
    const range = this.current(); // callers may hear of the change before this object
    const selected = this.selected();
    if (selected === null || range === null) {
      return null;
    }
    const box = [...selected.getClientRects()].at(-1);
    const { top, bottom, right } = this.parts.scroller.getBoundingClientRect();
    return box === undefined || box.bottom < top || box.bottom > bottom + 1
      ? null
      : {
          left: box.right,
          top: box.top,
          bottom: box.bottom,
          edge: right
        };
  }

  /** Once per animation frame. */
  private readonly readLater = (): void => {
    if (!this.isWaiting) {
      this.isWaiting = true;
      requestAnimationFrame(() => {
        this.isWaiting = false;
        if (!this.isDisposed) {
          this.read();
        }
      });
    }
  };

  private read(): void {
    const selection = document.getSelection();
    const isHere = this.parts.scroller.contains(selection?.anchorNode ?? null);
    const selected = this.selected();
    if (selected !== null) {
      this.set(this.text()?.rangeOf(selected) ?? null);
      this.highlight(selected);
    } else if (isHere) {
      this.set(null);
      this.highlight(null);
    }
  }

  /** The selection of the browser, if it is in this page. */
  private selected(): Range | null {
    const selection = document.getSelection();
    if (selection === null || selection.isCollapsed) {
      return null;
    }
    const range = selection.getRangeAt(0);
    const { body } = this.parts;
    return body.contains(range.startContainer) ||
      body.contains(range.endContainer)
      ? range
      : null;
  }

  private set(range: TextRange | null): void {
    if (range?.from !== this.range?.from || range?.to !== this.range?.to) {
      this.range = range;
      this.parts.changed();
    }
  }

  /** Keep the selection visible without the focus, in browsers that can. */
  private highlight(range: Range | null): void {
    if (!('highlights' in CSS)) {
      return;
    }
    if (range === null) {
      if (this.shown) {
        CSS.highlights.delete(HIGHLIGHT);
      }
    } else {
      CSS.highlights.set(HIGHLIGHT, new Highlight(range.cloneRange()));
    }
    this.shown = range !== null;
  }

  private shown = false;
  private isWaiting = false;
}
