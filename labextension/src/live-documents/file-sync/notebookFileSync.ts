/**
 * Keeps an open notebook and its file together when others write the file: another page that has
 * it open, the server while this page was away, git, another editor. Takes up what is new there without a reload, so
 * that nothing typed here is lost and the next save finds the file it knows. One per notebook; made
 * by `NotebookAnnouncer`.
 */

import type { YCellType, CellChange } from '@jupyter/ydoc';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { INotebookContent } from '@jupyterlab/nbformat';
import type { Contents } from '@jupyterlab/services';
import { UUID } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

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
import type * as Rules from './lazyMerge';
import type { NotebookContext, OpenNotebook } from '../notebooks/openNotebook';

/** The lab's contents manager as it is used here. */
export type IFiles = Pick<Contents.IManager, 'get'>;

/** The part of the lab's context that learns what the file holds; not public, so it may be missing. */
interface ILearnsFile {
  _updateContentsModel?: (file: Contents.IModel) => void;
}

/** Follows loads and saves of one notebook, and takes up the file when asked to. */
export class NotebookFileSync implements IDisposable {
  constructor(
    private readonly notebook: OpenNotebook,
    private readonly files: IFiles,
    private readonly onConflict: (count: number) => void
  ) {
    this.base = this.own();
    this.whole = notebook.metadata;
    this.watchCells();
    const { context } = notebook;
    context.saveState.connect(this.onSaveState, this);
    context.fileChanged.connect(this.onFileChanged, this);
    context.model.cells.changed.connect(this.watchCells, this);
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  dispose(): void {
    this.disposed = true;
    Signal.clearData(this);
  }

  /** Take up what the file says now; returns whether anything was done. */
  async takeUp(): Promise<boolean> {
    if (!this.isQuiet()) {
      this.isWanted = true; // The save in progress meets the file first.
      return false;
    }
    const { context } = this;
    if (context.model.collaborative || !(await this.isOther())) {
      return false;
    }
    const { path } = context;
    const [file, rules] = await Promise.all([
      this.files.get(path, {
        type: 'notebook',
        format: 'json',
        content: true,
        hash: true
      }),
      import('./lazyMerge')
    ]);
    return !this.disposed && this.isQuiet() && context.path === path
      ? this.mergeFile(file, rules)
      : false;
  }

  /** Whether no save is going on. */
  private isQuiet(): boolean {
    return this.saving === null;
  }

  private get context(): NotebookContext {
    return this.notebook.context;
  }

  /** Whether the file is not the one this page last read or wrote. */
  private async isOther(): Promise<boolean> {
    const file = await this.files.get(this.context.path, {
      content: false,
      hash: true
    });
    const known = this.context.contentsModel;
    if (this.disposed || known === null) {
      return false;
    }
    return known.hash && file.hash
      ? known.hash !== file.hash
      : known.last_modified !== file.last_modified;
  }

  private mergeFile(file: Contents.IModel, rules: typeof Rules): boolean {
    // The request asked for a notebook.
    const content = rules.assignCellIds(
      file.content as INotebookContent,
      this.base
    );
    const theirs = fromFile(content);
    const learner = this.context as unknown as ILearnsFile;
    if (theirs === null || learner._updateContentsModel === undefined) {
      return false; // The lab's own question at the next save is all there is.
    }
    const merged = rules.merge(
      this.base,
      this.notebook.cells.map(cell => toInsert(cell, null)),
      theirs,
      new Set(this.touched.keys())
    );
    const copies = merged.conflicts.map(otherText);
    this.notebook.takeUp([...merged.edits, ...copies], merged.metadata);
    const keepsWhole = !this.takeUpWhole(content, rules);
    this.isLearning = true;
    try {
      learner._updateContentsModel(file);
    } finally {
      this.isLearning = false;
    }
    this.base = fileBaselineOf(theirs);
    if (!merged.keeps && !keepsWhole) {
      this.touched.clear();
      this.context.model.dirty = false;
    }
    if (copies.length > 0) {
      this.onConflict(copies.length);
    }
    return true;
  }

  /** Take the notebook's own metadata up; returns whether the notebook has now what the file has. */
  private takeUpWhole(
    content: INotebookContent,
    { mergeWhole }: typeof Rules
  ): boolean {
    // Metadata came out of JSON.
    const theirs = content.metadata as unknown as JsonObject;
    const whole = mergeWhole(this.whole, this.notebook.metadata, theirs);
    this.whole = theirs;
    if (whole !== null) {
      this.notebook.takeUpMetadata(whole);
    }
    return whole !== null;
  }

  private own(): FileBaseline {
    return fileBaselineOf(
      this.notebook.cells.map(cell => ({
        cell_id: cell.id,
        cell_type: cell.cell_type,
        source: cell.getSource(),
        metadata: metadataOf(cell),
        attachments: attachmentsOf(cell)
      }))
    );
  }

  private readonly onSaveState = (
    _: unknown,
    state: DocumentRegistry.SaveState
  ): void => {
    if (state === 'started') {
      // What is written is what the notebook holds at this moment.
      const { metadata: whole } = this.notebook;
      this.saving = { base: this.own(), whole, changes: this.changes };
      return;
    }
    const saving = this.saving;
    this.saving = null;
    if (state === 'completed' && saving !== null) {
      this.base = saving.base;
      this.whole = saving.whole;
      for (const [id, change] of this.touched) {
        if (change <= saving.changes) {
          this.touched.delete(id);
        }
      }
    }
    if (this.isWanted) {
      this.isWanted = false;
      void this.takeUp();
    }
  };

  /** Loaded anew by the lab. */
  private readonly onFileChanged = (): void => {
    const isRename = this.context.contentsModel?.path !== this.context.path;
    if (this.isQuiet() && !this.isLearning && !isRename) {
      this.base = this.own();
      this.whole = this.notebook.metadata;
      this.touched.clear();
    }
  };

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

  private base: FileBaseline;
  /** The notebook's own metadata, as the page last read or wrote them. */
  private whole: JsonObject;
  /** Cells whose outputs changed here since the file was read or written, with the change's number. */
  private readonly touched = new Map<string, number>();
  private changes = 0;
  private saving: {
    base: FileBaseline;
    whole: JsonObject;
    changes: number;
  } | null = null;
  private isWanted = false;
  private isLearning = false;
  private disposed = false;
}

/** The text the file has for a cell that was changed here too, as a cell of its own below it. */
function otherText(cell: MergeCell): MergeCell {
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
