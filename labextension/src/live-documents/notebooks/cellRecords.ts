/**
 * The cells of an open notebook in their wire form, converted again only when they change: most requests of the server
 * touch one cell of many. Used by `OpenNotebook`.
 */

import type { YCellType } from '@jupyter/ydoc';

import type { NotebookCell } from '../../wire/generated';
import { readCell, type JsonObject } from './cellConversion';
import type { ISharedNotebookWithCells } from './sharedNotebook';

/** A Yjs type of the shared notebook. */
interface ISharedType {
  readonly parent: ISharedType | null;
}

/** Lives as long as the shared notebook. A record stays the same object while its cell is unchanged. */
export class CellRecords {
  constructor(private readonly shared: ISharedNotebookWithCells) {
    // The signals of cells leave out what JupyterLab calls silent changes.
    const cells = shared.ydoc.getArray('cells');
    cells.observeDeep(events => {
      for (const { target } of events) {
        // The change is in a cell's map or in a part of it, or it is of the list.
        let changed = target as ISharedType | null;
        while (changed !== null && changed.parent !== cells) {
          changed = changed.parent;
        }
        if (changed !== null) {
          this.records.delete(changed);
        }
      }
    });
    shared.ydoc.getMap('meta').observeDeep(() => {
      this.metadataRecord = null;
    });
  }

  /** All cells in order, without outputs. */
  get cells(): NotebookCell[] {
    return this.shared.cells.map(cell => this.of(cell));
  }

  /** The notebook's own metadata. */
  get metadata(): JsonObject {
    // The shared model types metadata as partial JSON; all of it came out of JSON.
    this.metadataRecord ??= this.shared.metadata as unknown as JsonObject;
    return this.metadataRecord;
  }

  /** A cell without outputs. */
  of(cell: YCellType): NotebookCell {
    const source = cell.getSource();
    const known = this.records.get(cell.ymodel);
    if (known?.source === source) {
      return known;
    }
    const record = readCell(cell, source);
    this.records.set(cell.ymodel, record);
    return record;
  }

  private readonly records = new WeakMap<ISharedType, NotebookCell>();
  private metadataRecord: JsonObject | null = null;
}
