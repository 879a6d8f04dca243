/** The places of task threads and the texts they are about, as the views see them; a part of `IChatHost`. */

import type { ISignal } from '@lumino/signaling';

import type { IThreadLocations } from './threadLocations';

/** The texts of the documents that are open in the page. */
export interface IOpenDocumentTexts {
  /** Emitted soon after one of them is another, and when documents are opened and closed. */
  readonly changed: ISignal<IOpenDocumentTexts, void>;
  /** The text of a file, or of a cell; null when the cell is gone, undefined when the document is not open. */
  textOf(document: string, cellId: string | null): string | null | undefined;
}

/** What the lab's page knows of threads. */
export interface IThreadsHost {
  /** Where the threads of open documents are; null in a page that marks none. */
  readonly threads: IThreadLocations | null;
  /** Null in a page that sees no documents. */
  readonly texts: IOpenDocumentTexts | null;
}
