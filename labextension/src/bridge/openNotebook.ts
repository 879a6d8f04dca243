/**
 * One notebook open in this page, as the server may read and change it. Edits go to the shared
 * model by cell id; nothing here saves, reverts or runs anything.
 */

import type {
  ISharedAttachmentsCell,
  ISharedCodeCell,
  YCellType
} from '@jupyter/ydoc';
import type { ICodeCellModel } from '@jupyterlab/cells';
import type * as nbformat from '@jupyterlab/nbformat';
import type { NotebookPanel } from '@jupyterlab/notebook';

import type {
  AnnouncedCell,
  CellConflict,
  CellEdit,
  CellInsert,
  Json,
  NotebookCell,
  OutputSummary
} from '../wire/generated';
import { cellVersion } from '../wire/versions';
import { RunOutputs, type IOutputArea } from './runOutputs';
import { conflictsOf, textChanges, type ICellView } from './plan';
import type { ISharedNotebookWithCells } from './shared';

type JsonObject = Record<string, Json>;

/** What became of a request to change the notebook. */
export type ApplyOutcome =
  | { kind: 'applied'; versions: Record<string, string>; inverse: CellEdit[] }
  | { kind: 'conflict'; conflicts: CellConflict[] };

/** A notebook panel seen through the operations of the live-document protocol. */
export class OpenNotebook {
  constructor(readonly panel: NotebookPanel) {}

  /** Workspace-relative path, without a drive. */
  get path(): string {
    return this.panel.context.localPath;
  }

  get dirty(): boolean {
    return this.panel.context.model.dirty;
  }

  /** The contents manager's stamp of the last save or load this page knows of. */
  get savedAt(): string | null {
    return this.panel.context.contentsModel?.last_modified ?? null;
  }

  get kernelId(): string | null {
    return this.panel.sessionContext.session?.kernel?.id ?? null;
  }

  /** Whether the document can be changed at all. */
  get writable(): boolean {
    const { model, contentsModel } = this.panel.context;
    return !model.readOnly && contentsModel?.writable !== false;
  }

  /** Every cell in order; the source only where `known` holds another version. */
  announce(known: ReadonlyMap<string, string>): AnnouncedCell[] {
    return this.shared.cells.map(cell => {
      const source = cell.getSource();
      const version = cellVersion(source);
      return {
        id: cell.id,
        cell_type: cell.cell_type,
        version,
        source: known.get(cell.id) === version ? null : source
      };
    });
  }

  /** Every cell as it is now, with the outputs of the cells named. */
  read(outputs: ReadonlySet<string>): NotebookCell[] {
    return this.shared.cells.map(cell => readCell(cell, outputs.has(cell.id)));
  }

  get metadata(): JsonObject {
    // The shared model types metadata as partial JSON; what it holds came out of JSON.
    return this.shared.metadata as unknown as JsonObject;
  }

  /** Apply all edits, or none when one of them finds its cell changed. */
  apply(
    expected: Readonly<Record<string, string>>,
    edits: readonly CellEdit[]
  ): ApplyOutcome {
    const conflicts = conflictsOf(
      this.shared.cells.map(viewOf),
      expected,
      edits
    );
    if (conflicts.length > 0) {
      return { kind: 'conflict', conflicts };
    }
    const inverse: CellEdit[] = [];
    const structural = edits.filter(isStructural);
    const others = edits.filter(edit => !isStructural(edit));
    if (structural.length > 0) {
      this.asOneStep(() => {
        for (const edit of structural) {
          inverse.unshift(this.perform(edit));
        }
      });
    }
    for (const edit of others) {
      inverse.unshift(this.perform(edit));
    }
    return { kind: 'applied', versions: this.versionsAfter(edits), inverse };
  }

  /** Show the cell as running: no outputs, `[*]`. */
  runStarted(id: string): void {
    const cell = this.codeCell(id);
    const area = this.outputArea(id);
    if (cell !== null && area !== null) {
      this.runs.set(id, new RunOutputs(area));
      cell.execution_count = null;
      cell.executionState = 'running';
    }
  }

  /** Outputs from position `index` on are now these. */
  runOutput(id: string, index: number, outputs: readonly JsonObject[]): void {
    this.runs.get(id)?.show(index, outputs.map(toOutput));
  }

  /** The run is over. */
  runEnded(id: string, executionCount: number | null): void {
    this.runs.delete(id);
    const cell = this.codeCell(id);
    if (cell !== null) {
      cell.execution_count = executionCount;
      cell.executionState = 'idle';
    }
  }

  private readonly runs = new Map<string, RunOutputs>();

  private get shared(): ISharedNotebookWithCells {
    // NotebookModel.sharedModel is the YNotebook; its interface type lacks the Y-side members used here.
    return this.panel.context.model
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

  private codeCell(id: string): ISharedCodeCell | null {
    const cell = this.shared.cells.find(item => item.id === id);
    return cell?.cell_type === 'code' ? cell : null;
  }

  /**
   * Where a code cell's outputs are shown. What the agent runs in the user's name is trusted as the
   * user's own run would be.
   */
  private outputArea(id: string): IOutputArea | null {
    for (const model of this.panel.context.model.cells) {
      if (model.id === id && model.type === 'code') {
        const code = model as ICodeCellModel;
        code.trusted = true;
        return code.outputs;
      }
    }
    return null;
  }

  /** Run `change` as a step of its own on the notebook's undo stack. */
  private asOneStep(change: () => void): void {
    const { undoManager } = this.shared;
    undoManager.stopCapturing();
    this.shared.transact(change);
    undoManager.stopCapturing();
    this.panel.context.model.dirty = true;
  }

  /** Apply one checked edit; return what takes it back. */
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
      // Last change first: the offsets are those of the text before all of them.
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
    const cell = this.codeCell(id);
    if (cell === null) {
      throw new Error(`Cell ${id} is not a code cell.`);
    }
    const inverse: CellEdit = {
      kind: 'cell-outputs',
      cell_id: id,
      outputs: fromOutputs(cell.outputs),
      execution_count: cell.execution_count
    };
    this.outputArea(id)?.fromJSON(outputs.map(toOutput));
    cell.execution_count = execution_count;
    return inverse;
  }

  private indexAfter(id: string | null): number {
    return id === null ? 0 : this.find(id).index + 1;
  }

  private idBefore(index: number): string | null {
    return this.shared.cells[index - 1]?.id ?? null;
  }

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
  return (
    edit.kind === 'cell-insert' ||
    edit.kind === 'cell-delete' ||
    edit.kind === 'cell-move'
  );
}

function viewOf(cell: YCellType): ICellView {
  const source = cell.getSource();
  const metadata = metadataOf(cell);
  return {
    id: cell.id,
    version: cellVersion(source),
    source,
    editable: metadata.editable !== false,
    deletable: metadata.deletable !== false
  };
}

function metadataOf(cell: YCellType): JsonObject {
  // Same reason as in OpenNotebook.metadata.
  return cell.getMetadata() as unknown as JsonObject;
}

function readCell(cell: YCellType, withOutputs: boolean): NotebookCell {
  const source = cell.getSource();
  const code = cell.cell_type === 'code' ? (cell as ISharedCodeCell) : null;
  const outputs = code?.getOutputs() ?? [];
  return {
    id: cell.id,
    cell_type: cell.cell_type,
    source,
    version: cellVersion(source),
    metadata: metadataOf(cell),
    execution_count: code?.execution_count ?? null,
    output_summary: outputs.map(summaryOf),
    outputs: withOutputs ? fromOutputs(outputs) : null
  };
}

function summaryOf(output: nbformat.IOutput): OutputSummary {
  const data = output.data;
  return {
    kind: output.output_type as OutputSummary['kind'],
    mime_types:
      data !== null && typeof data === 'object' ? Object.keys(data) : [],
    size: JSON.stringify(output).length
  };
}

function toCell(edit: CellInsert): nbformat.ICell & { id: string } {
  const base = {
    id: edit.cell_id,
    cell_type: edit.cell_type,
    source: edit.source,
    metadata: edit.metadata
  };
  return edit.cell_type === 'code'
    ? {
        ...base,
        outputs: edit.outputs.map(toOutput),
        execution_count: edit.execution_count
      }
    : edit.attachments === null
      ? base
      : { ...base, attachments: edit.attachments };
}

function toInsert(cell: YCellType, after: string | null): CellInsert {
  const code = cell.cell_type === 'code' ? (cell as ISharedCodeCell) : null;
  return {
    kind: 'cell-insert',
    cell_id: cell.id,
    cell_type: cell.cell_type,
    source: cell.getSource(),
    metadata: metadataOf(cell),
    after,
    outputs: fromOutputs(code?.getOutputs() ?? []),
    execution_count: code?.execution_count ?? null,
    attachments: attachmentsOf(cell)
  };
}

/** The pictures pasted into a markdown or raw cell. */
function attachmentsOf(cell: YCellType): JsonObject | null {
  if (cell.cell_type === 'code') {
    return null;
  }
  const attachments = (cell as ISharedAttachmentsCell).getAttachments();
  // MIME bundles by name are JSON objects.
  return (attachments ?? null) as unknown as JsonObject | null;
}

/** The shared model joins a list of lines with commas: give it one string. */
function toOutput(output: JsonObject): nbformat.IOutput {
  const lines = output.text;
  const whole = Array.isArray(lines)
    ? { ...output, text: lines.reduce<string>(joined, '') }
    : output;
  // The server sends nbformat outputs; the wire types them as JSON objects.
  return whole as unknown as nbformat.IOutput;
}

function joined(text: string, line: Json): string {
  return typeof line === 'string' ? text + line : text;
}

function fromOutputs(outputs: readonly nbformat.IOutput[]): JsonObject[] {
  // nbformat outputs are JSON objects.
  return outputs as unknown as JsonObject[];
}
