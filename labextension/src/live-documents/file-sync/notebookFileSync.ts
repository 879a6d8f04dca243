/** Merges a notebook's file into its open document. One per notebook; made by `NotebookBridge`. */

import type { YCellType, CellChange } from '@jupyter/ydoc';
import type { INotebookContent } from '@jupyterlab/nbformat';
import type { Contents } from '@jupyterlab/services';
import { UUID } from '@lumino/coreutils';

import {
  fileBaselineOf,
  type FileBaseline,
  type MergeCell
} from './fileBaseline';
import {
  attachmentsOf,
  fromFile,
  metadataOf,
  toInsert,
  type JsonObject
} from '../notebooks/cellConversion';
import type { assignCellIds as AssignCellIds } from './cellIds';
import { FileSync, type IFiles, type MergeFile } from './fileSync';
import type {
  merge as Merge,
  mergeNotebookMetadata as MergeNotebookMetadata
} from './notebookMerge';
import type { NotebookContext, OpenNotebook } from '../notebooks/openNotebook';

/** A notebook as the page last read or wrote it. */
interface IBaseline {
  readonly cells: FileBaseline;
  /** The notebook's own metadata. */
  readonly metadata: JsonObject;
  /** Number of the last change of outputs. */
  readonly changes: number;
}

/** Loaded when others wrote the file. */
interface IMergeRules {
  readonly assignCellIds: typeof AssignCellIds;
  readonly merge: typeof Merge;
  readonly mergeNotebookMetadata: typeof MergeNotebookMetadata;
}

/** Keeps one notebook and its file together. */
export class NotebookFileSync extends FileSync<NotebookContext, IBaseline> {
  constructor(
    private readonly notebook: OpenNotebook,
    files: IFiles,
    private readonly onConflict: (count: number) => void
  ) {
    super(notebook.context, files, { type: 'notebook', format: 'json' });
    this.baseline = this.currentBaseline();
    this.watchCells();
    this.context.model.cells.changed.connect(this.watchCells, this);
  }

  protected override async loadMerge(): Promise<MergeFile> {
    const [{ assignCellIds }, { merge, mergeNotebookMetadata }] =
      await Promise.all([import('./cellIds'), import('./notebookMerge')]);
    const rules = { assignCellIds, merge, mergeNotebookMetadata };
    return file => this.mergeFile(file, rules);
  }

  protected override currentBaseline(): IBaseline {
    const cells = this.notebook.cells.map(cell => ({
      cell_id: cell.id,
      cell_type: cell.cell_type,
      source: cell.getSource(),
      metadata: metadataOf(cell),
      attachments: attachmentsOf(cell)
    }));
    return {
      cells: fileBaselineOf(cells),
      metadata: this.notebook.metadata,
      changes: this.changes
    };
  }

  protected override setBaseline(baseline: IBaseline): void {
    this.baseline = baseline;
    for (const [id, change] of this.touched) {
      if (change <= baseline.changes) {
        this.touched.delete(id);
      }
    }
  }

  private mergeFile(file: Contents.IModel, rules: IMergeRules): boolean {
    const { baseline, notebook } = this;
    // The request asked for a notebook.
    const content = rules.assignCellIds(
      file.content as INotebookContent,
      baseline.cells
    );
    const theirs = fromFile(content);
    if (theirs === null) {
      return false; // JupyterLab's own question at the next save has to do.
    }
    const merged = rules.merge(
      baseline.cells,
      notebook.cells.map(cell => toInsert(cell, null)),
      theirs,
      new Set(this.touched.keys())
    );
    const copies = merged.conflicts.map(conflictCopy);
    notebook.applyMerge([...merged.edits, ...copies], merged.metadata);
    // Metadata came out of JSON.
    const metadata = content.metadata as unknown as JsonObject;
    const whole = rules.mergeNotebookMetadata(
      baseline.metadata,
      notebook.metadata,
      metadata
    );
    if (whole !== null) {
      notebook.replaceMetadata(whole);
    }
    this.learn(file);
    const cells = fileBaselineOf(theirs);
    this.baseline = { cells, metadata, changes: this.changes };
    if (!merged.hasLocalChanges && whole !== null) {
      this.touched.clear();
      this.context.model.dirty = false;
    }
    if (copies.length > 0) {
      this.onConflict(copies.length);
    }
    return true;
  }

  private readonly watchCells = (): void => {
    for (const cell of this.notebook.cells) {
      cell.changed.connect(this.onCell, this);
    }
  };

  private readonly onCell = (cell: YCellType, change: CellChange): void => {
    if (
      change.outputsChange !== undefined ||
      change.streamOutputChange !== undefined ||
      change.executionCountChange !== undefined
    ) {
      this.changes += 1;
      this.touched.set(cell.id, this.changes);
    }
  };

  private baseline: IBaseline;
  /** Cells whose outputs changed here since the file was read or written, with the change's number. */
  private readonly touched = new Map<string, number>();
  private changes = 0;
}

/** The file's text for a cell that was changed here too, as a separate cell below it. */
function conflictCopy(cell: MergeCell): MergeCell {
  return {
    ...cell,
    cell_id: UUID.uuid4().slice(0, 8),
    after: cell.cell_id,
    cell_type: 'raw', // It must not run by itself.
    metadata: {},
    outputs: [],
    execution_count: null
  };
}
