/** The messages' part of `IChatHost`. */

import type { TextRange } from '../wire/generated';

/** Target of a reference. */
export interface IDocumentTarget {
  /** Path in the workspace. */
  readonly path: string;
  readonly isFolder?: boolean;
  /** The notebook's cell. */
  readonly cellId?: string | null;
  /** Number of the cell, from 1, if its id is unknown. */
  readonly cellNumber?: number | null;
  /** The range to select. */
  readonly range?: TextRange | null;
  /** The lines to show, from 1, in the cell or file. */
  readonly lines?: ILineRange | null;
  /** Text of the cell, to find it when its id is gone. */
  readonly text?: string;
  /** The part of the cell to show. */
  readonly part?: 'source' | 'output';
}

/** Lines from 1, both included. */
export interface ILineRange {
  readonly first: number;
  readonly last: number;
}

/** Targets, code, formulas and images of messages. */
export interface IMessageHost {
  /** Open a file, a cell, a selection, an output or a folder and scroll to it; null in a page that opens none. */
  readonly openTarget: ((target: IDocumentTarget) => void) | null;
  /**
   * Replace the active cell's code in one step of the cell's undo; false without a cell. Null in a page without
   * cells.
   */
  readonly replaceCell: ((source: string, language: string) => boolean) | null;
  /**
   * Create a file with code beside the active document and open it. Rejects with a message for the user. Null in a
   * page that opens none.
   */
  readonly newFile:
    ((source: string, language: string) => Promise<void>) | null;
  /** Typeset TeX in an element; the text stays if that fails. Never rejects. */
  readonly typeset: (
    element: HTMLElement,
    tex: string,
    display: boolean
  ) => Promise<void>;
  /** An image of the workspace, read with the user's permissions. Rejects if it is missing or too large. */
  readonly readImage: (path: string) => Promise<Blob>;
}
