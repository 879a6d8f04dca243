/**
 * One notebook open in this page, as the server reads and changes it. Edits go to the shared model by cell id;
 * nothing here saves, reverts or runs anything.
 */

import type { YCellType } from '@jupyter/ydoc';
import type { ICodeCellModel } from '@jupyterlab/cells';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type * as nbformat from '@jupyterlab/nbformat';
import type { INotebookModel } from '@jupyterlab/notebook';
import { JSONExt } from '@lumino/coreutils';

import type {
  AnnouncedCell,
  CellConflict,
  CellEdit,
  NotebookCell
} from '../../wire/generated';
import { cellVersion } from '../../wire/versions';
import { AgentRuns, type IRunCell } from './agentRuns';
import { CaretGuards } from './caretGuard';
import {
  fromOutputs,
  outputsOf,
  toCell,
  toInsert,
  toOutput,
  viewOf,
  type JsonObject
} from './cellConversion';
import { CellRecords } from './cellRecords';
import { ExecutionHistory, executionCountOf } from './executionHistory';
import {
  conflictsOf,
  removesWidget,
  textChanges,
  type ICellView
} from '../../text/edits';
import type { ISharedNotebookWithCells } from './sharedNotebook';

/** Outcome of a request to change the notebook. */
export type ApplyOutcome =
  | { kind: 'applied'; versions: Record<string, string>; inverse: CellEdit[] }
  | { kind: 'conflict'; conflicts: CellConflict[] };

/** JupyterLab's context of a notebook; all its views share it. */
export type NotebookContext = DocumentRegistry.IContext<INotebookModel>;

/** A notebook seen through the operations of the live-document protocol. */
export class OpenNotebook {
  constructor(readonly context: NotebookContext) {
    context.model.cells.changed.connect(() => this.runs.cellsAdded());
    this.cellRecords = new CellRecords(this.shared);
  }

  /** The user's runs of its cells in this page. */
  readonly executed = new ExecutionHistory();

  /** The agent's runs of its cells. */
  readonly runs = new AgentRuns(id => this.runCell(id));

  /** The user's carets, one for each view. */
  readonly carets = new CaretGuards();

  /** Workspace-relative path, without a drive. */
  get path(): string {
    return this.context.localPath;
  }

  get dirty(): boolean {
    return this.context.model.dirty;
  }

  /** Time of the last save or load this page knows of, as the contents manager reports it. */
  get savedAt(): string | null {
    return this.context.contentsModel?.last_modified ?? null;
  }

  get kernelId(): string | null {
    return this.context.sessionContext.session?.kernel?.id ?? null;
  }

  /** Whether the document can be changed at all. */
  get writable(): boolean {
    const { model, contentsModel } = this.context;
    return !model.readOnly && contentsModel?.writable !== false;
  }

  /** Every cell in order, as it is announced. */
  announce(): AnnouncedCell[] {
    return this.records.map(
      ({ id, cell_type, version, source, execution_count }) => ({
        id,
        cell_type,
        version,
        source,
        execution_count,
        executed_version: this.executed.versionOf(id, execution_count)
      })
    );
  }

  /** The user starts to run a cell. */
  scheduled(id: string): void {
    const cell = this.shared.cells.find(item => item.id === id);
    if (cell !== undefined) {
      this.executed.scheduled(id, cell.getSource());
    }
  }

  /** The user's run of a cell has ended. */
  runEnded(id: string): void {
    const cell = this.shared.cells.find(item => item.id === id);
    this.executed.ended(id, cell === undefined ? null : executionCountOf(cell));
  }

  /** All current cells without outputs; the same objects as before where nothing changed. */
  get records(): readonly NotebookCell[] {
    return this.cellRecords.cells;
  }

  /** The outputs of a cell. */
  outputsOf(id: string): JsonObject[] {
    return fromOutputs(outputsOf(this.find(id).cell));
  }

  /** The notebook's own metadata; the same object as before while it is unchanged. */
  get metadata(): JsonObject {
    return this.cellRecords.metadata;
  }

  /** Apply all edits, or none if the cell of one has changed. */
  apply(
    expected: Readonly<Record<string, string>>,
    edits: readonly CellEdit[]
  ): ApplyOutcome {
    const { typedIn } = this.carets;
    const conflicts = conflictsOf(this.views, expected, edits, typedIn);
    if (conflicts.length > 0) {
      return { kind: 'conflict', conflicts };
    }
    const inverse = this.performAll(edits);
    return { kind: 'applied', versions: this.versionsAfter(edits), inverse };
  }

  /** The cells of the shared model in order. */
  get cells(): readonly YCellType[] {
    return this.shared.cells;
  }

  /** Apply a merge with the file, computed from the notebook's current cells. */
  applyMerge(
    edits: readonly CellEdit[],
    metadata: ReadonlyMap<string, JsonObject>
  ): void {
    this.performAll(edits);
    for (const [id, values] of metadata) {
      // Metadata is JSON; the shared model's type for it has further members.
      this.find(id).cell.setMetadata(values as Partial<nbformat.ICellMetadata>);
    }
  }

  /** Replace the notebook's own metadata by the file's. */
  replaceMetadata(metadata: JsonObject): void {
    if (!JSONExt.deepEqual(this.metadata, metadata)) {
      // Metadata is JSON; the shared model's type for it has further members.
      this.shared.metadata = metadata;
    }
  }

  /** The cells as the edit rules see them. */
  get views(): ICellView[] {
    return this.records.map(viewOf);
  }

  /** Insert recovered text in one undo step. */
  restore(edits: readonly CellEdit[]): void {
    const perform = (edit: CellEdit): void => void this.perform(edit);
    const isText = (edit: CellEdit): boolean => edit.kind === 'cell-source';
    this.asOneStep(edits, () => {
      edits.filter(edit => !isText(edit)).forEach(perform);
      // Within a transaction of the notebook, its undo covers texts; the cells' own does not.
      this.shared.transact(() => edits.filter(isText).forEach(perform));
    });
  }

  /** Apply checked edits, the structural ones as one undo step; return the inverse edits. */
  private performAll(edits: readonly CellEdit[]): CellEdit[] {
    const inverse: CellEdit[] = [];
    const perform = (edit: CellEdit): void => {
      inverse.unshift(this.perform(edit));
    };
    const structural = edits.filter(isStructural);
    const others = edits.filter(edit => !isStructural(edit));
    const known = new Set(this.shared.cells.map(cell => cell.id));
    // One batch may change and then delete a cell, or insert and then change one.
    others.filter(({ cell_id }) => known.has(cell_id)).forEach(perform);
    if (structural.length > 0) {
      this.asOneStep(structural, () => structural.forEach(perform));
    }
    others.filter(({ cell_id }) => !known.has(cell_id)).forEach(perform);
    return inverse;
  }

  private get shared(): ISharedNotebookWithCells {
    // NotebookModel.sharedModel is the YNotebook; its interface type lacks the Y-side members used here.
    return this.context.model
      .sharedModel as unknown as ISharedNotebookWithCells;
  }

  private find(id: string): { cell: YCellType; index: number } {
    const index = this.shared.cells.findIndex(cell => cell.id === id);
    const cell = this.shared.cells[index];
    if (cell === undefined) {
      throw new Error(`No cell ${id} in ${this.path}.`);
    }
    return { cell, index };
  }

  /** A code cell with its output area. */
  private runCell(id: string): IRunCell | null {
    for (const model of this.context.model.cells) {
      if (model.id === id && model.type === 'code') {
        const code = model as ICodeCellModel;
        // Cells that the agent runs for the user are trusted like the user's own.
        const trust = (): void => {
          code.trusted = true;
        };
        return { shared: code.sharedModel, area: code.outputs, trust };
      }
    }
    return null;
  }

  /**
   * Run `change` as one undo step of the notebook. Not in one transaction: the list of cells would not change until
   * its end, but each edit must find its cell at its current position.
   */
  private asOneStep(edits: readonly CellEdit[], change: () => void): void {
    const { undoManager } = this.shared;
    const { captureTimeout } = undoManager;
    undoManager.stopCapturing();
    undoManager.captureTimeout = Infinity;
    const moved = new Set(
      edits.filter(removesWidget).map(({ cell_id }) => cell_id)
    );
    try {
      this.carets.runAround(moved, change);
    } finally {
      undoManager.captureTimeout = captureTimeout;
      undoManager.stopCapturing();
    }
    this.context.model.dirty = true;
  }

  /** Apply one checked edit; return the inverse edit. */
  private perform(edit: CellEdit): CellEdit {
    switch (edit.kind) {
      case 'cell-source':
        return this.replaceSource(edit.cell_id, edit.source);
      case 'cell-insert':
        this.shared.insertCell(this.indexAfter(edit.after), toCell(edit));
        return { kind: 'cell-delete', cell_id: edit.cell_id };
      case 'cell-delete': {
        const { cell, index } = this.find(edit.cell_id);
        const inverse = toInsert(cell, this.idBefore(index));
        this.shared.deleteCell(index);
        return inverse;
      }
      case 'cell-move':
        return this.move(edit.cell_id, edit.after);
      case 'cell-outputs':
        return this.replaceOutputs(edit.cell_id, edit);
    }
  }

  private replaceSource(id: string, source: string): CellEdit {
    const { cell } = this.find(id);
    const before = cell.getSource();
    cell.undoManager?.stopCapturing();
    cell.transact(() => {
      // Last change first: offsets refer to the text before all changes.
      for (const change of textChanges(before, source).reverse()) {
        cell.updateSource(change.from, change.to, change.insert);
      }
    });
    cell.undoManager?.stopCapturing();
    return { kind: 'cell-source', cell_id: id, source: before };
  }

  private move(id: string, after: string | null): CellEdit {
    const { index } = this.find(id);
    const inverse: CellEdit = {
      kind: 'cell-move',
      cell_id: id,
      after: this.idBefore(index)
    };
    const target = this.indexAfter(after);
    this.shared.moveCell(index, target > index ? target - 1 : target);
    return inverse;
  }

  private replaceOutputs(
    id: string,
    {
      outputs,
      execution_count
    }: { outputs: JsonObject[]; execution_count: number | null }
  ): CellEdit {
    const cell = this.runCell(id);
    if (cell === null) {
      throw new Error(`Cell ${id} is not a code cell.`);
    }
    const { shared, area } = cell;
    cell.trust();
    const inverse: CellEdit = {
      kind: 'cell-outputs',
      cell_id: id,
      outputs: fromOutputs(shared.outputs),
      execution_count: shared.execution_count
    };
    area.fromJSON(outputs.map(toOutput));
    shared.execution_count = execution_count;
    return inverse;
  }

  private indexAfter(id: string | null): number {
    return id === null ? 0 : this.find(id).index + 1;
  }

  private idBefore(index: number): string | null {
    return this.shared.cells[index - 1]?.id ?? null;
  }

  private readonly cellRecords: CellRecords;

  private versionsAfter(edits: readonly CellEdit[]): Record<string, string> {
    const touched = new Set(edits.map(edit => edit.cell_id));
    return Object.fromEntries(
      this.shared.cells
        .filter(cell => touched.has(cell.id))
        .map(cell => [cell.id, cellVersion(cell.getSource())])
    );
  }
}

function isStructural(edit: CellEdit): boolean {
  return edit.kind === 'cell-insert' || removesWidget(edit);
}
