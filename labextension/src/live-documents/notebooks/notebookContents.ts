/** Answers to the server's reads of one open notebook: what changed since the answer before. Used by `NotebookBridge`. */

import type {
  DocumentContent,
  DocumentRead,
  NotebookCell
} from '../../wire/generated';
import { cellChanges, type ICellChanges } from './cellChanges';
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
    const { path, dirty, records, metadata } = this.notebook;
    const before = since === this.revision ? this.sent : null;
    const now = { cells: records, metadata };
    const { order, cells } =
      before !== null && isUnchanged(before, now)
        ? { order: null, cells: [] }
        : this.changes(before, now);
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

  /** The changes since an answer; the notebook gets a new revision. */
  private changes(
    before: ISent | null,
    now: ISent
  ): ICellChanges<NotebookCell> {
    this.sent = now;
    this.revision += 1;
    return cellChanges(before?.cells ?? null, now.cells, Object.is);
  }

  private sent: ISent | null = null;
  private revision = 0;
}

/** Whether every cell, in order, and the metadata are the same objects. */
function isUnchanged(before: ISent, now: ISent): boolean {
  return (
    before.metadata === now.metadata &&
    before.cells.length === now.cells.length &&
    before.cells.every((cell, index) => cell === now.cells[index])
  );
}
