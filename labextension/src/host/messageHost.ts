/** What messages need of the page around them; a part of `IChatHost`. */

import type { TextRange } from '../wire/generated';

/** A place something refers to. */
export interface IDocumentTarget {
  /** Path in the workspace. */
  readonly path: string;
  readonly isFolder?: boolean;
  /** The notebook's cell. */
  readonly cellId?: string | null;
  /** Where the cell's id is not known: its number, from 1. */
  readonly cellNumber?: number | null;
  /** What to select there. */
  readonly range?: TextRange | null;
  /** What to show of the cell. */
  readonly part?: 'source' | 'output';
}

/** Targets, code, formulas and pictures of messages. */
export interface IMessageHost {
  /** Open a file, a cell, a selection, an output or a folder, and bring it into view; null in a page that opens none. */
  readonly openTarget: ((target: IDocumentTarget) => void) | null;
  /**
   * Put code in the place of the active cell's, as one step that the cell's undo takes back; false without a cell.
   * Null where cells are out of reach.
   */
  readonly replaceCell: ((source: string, language: string) => boolean) | null;
  /** Make a file of code beside the active document, and open it. Rejects with what to do. Null in a page that opens none. */
  readonly newFile:
    ((source: string, language: string) => Promise<void>) | null;
  /** Typeset TeX in an element; one that cannot be typeset keeps its text. Never rejects. */
  readonly typeset: (
    element: HTMLElement,
    tex: string,
    display: boolean
  ) => Promise<void>;
  /** A picture of the workspace, read as the user. Rejects when there is none, or it is too large. */
  readonly picture: (path: string) => Promise<Blob>;
}
