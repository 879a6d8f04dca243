/** Answers to the server's reads of one open notebook: what changed since the answer before. Used by `NotebookBridge`. */

import type {
  DocumentContent,
  DocumentRead,
  NotebookCell
} from '../../wire/generated';
import { cellChanges } from './cellChanges';
import type { JsonObject } from './cellConversion';
import type { OpenNotebook } from './openNotebook';

/** A notebook as it was sent. */
interface ISent {
  cells: readonly NotebookCell[];
  metadata: JsonObject;
}

/** Remembers the last answer, which the next one is compared with. */
export class NotebookContents {
  constructor(private readonly notebook: OpenNotebook) {}

  /** The answer to a read; whole unless the server has the answer before. */
  read({ operation_id, outputs, since }: DocumentRead): DocumentContent {
    const { records, metadata, path, dirty } = this.notebook;
    const before = since === this.revision ? this.sent : null;
    const { order, cells } = cellChanges(
      before?.cells ?? null,
      records,
      Object.is
    );
    this.sent = { cells: records, metadata };
    this.revision += 1;
    const changed = new Set(cells.map(({ id }) => id));
    const wanted = new Set(outputs);
    return {
      type: 'document-content',
      operation_id,
      path,
      cells: records
        .filter(({ id }) => changed.has(id) || wanted.has(id))
        .map(cell =>
          wanted.has(cell.id)
            ? { ...cell, outputs: this.notebook.outputsOf(cell.id) }
            : cell
        ),
      metadata: metadata === before?.metadata ? null : metadata,
      dirty,
      order,
      revision: this.revision
    };
  }

  private sent: ISent | null = null;
  private revision = 0;
}
