/** The threads' part of `IChatHost`: their locations and the texts they are about. */

import type { ISignal } from '@lumino/signaling';

import type { IThreadLocations } from './threadLocations';

/** The texts of the open documents. */
export interface IOpenDocumentTexts {
  /** Emitted shortly after a text changed, and when a document is opened or closed. */
  readonly changed: ISignal<IOpenDocumentTexts, void>;
  /** The text of a file or a cell; null when the cell is gone, undefined when the document is not open. */
  textOf(document: string, cellId: string | null): string | null | undefined;
}

export interface IThreadsHost {
  /** The locations of threads; null in a page without marks. */
  readonly threads: IThreadLocations | null;
  /** Null in a page without documents. */
  readonly texts: IOpenDocumentTexts | null;
}
