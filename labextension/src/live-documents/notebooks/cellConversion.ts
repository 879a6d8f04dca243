/** Converts cells of the shared notebook to their wire form and back. Used by `OpenNotebook` and by file-sync. */

import type {
  ISharedAttachmentsCell,
  ISharedCodeCell,
  YCellType
} from '@jupyter/ydoc';
import type * as nbformat from '@jupyterlab/nbformat';

import type {
  CellInsert,
  Json,
  NotebookCell,
  OutputSummary
} from '../../wire/generated';
import { cellVersion } from '../../wire/versions';
import type { ICellView } from '../../text/edits';

export type JsonObject = Record<string, Json>;

/** A cell as the edit rules see it. */
export function viewOf(cell: NotebookCell): ICellView {
  const { id, version, source, metadata, cell_type } = cell;
  return {
    id,
    version,
    source,
    editable: metadata.editable !== false,
    deletable: metadata.deletable !== false,
    isCode: cell_type === 'code'
  };
}

/** A copy of a cell's metadata. */
export function metadataOf(cell: YCellType): JsonObject {
  // Same reason as in OpenNotebook.metadata.
  return cell.getMetadata() as unknown as JsonObject;
}

/** The outputs of a cell; none of a text cell. */
export function outputsOf(cell: YCellType): nbformat.IOutput[] {
  return cell.cell_type === 'code'
    ? (cell as ISharedCodeCell).getOutputs()
    : [];
}

/** A cell with this source as the server reads it, without outputs. */
export function readCell(cell: YCellType, source: string): NotebookCell {
  const code = cell.cell_type === 'code' ? (cell as ISharedCodeCell) : null;
  return {
    id: cell.id,
    cell_type: cell.cell_type,
    source,
    version: cellVersion(source),
    metadata: metadataOf(cell),
    execution_count: code?.execution_count ?? null,
    output_summary: outputsOf(cell).map(summaryOf),
    outputs: null
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

/** The cell made by an insertion. */
export function toCell(edit: CellInsert): nbformat.ICell & { id: string } {
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

/** The insertion that would restore a cell. */
export function toInsert(cell: YCellType, after: string | null): CellInsert {
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
export function attachmentsOf(cell: YCellType): JsonObject | null {
  if (cell.cell_type === 'code') {
    return null;
  }
  const attachments = (cell as ISharedAttachmentsCell).getAttachments();
  // MIME bundles by name are JSON objects.
  return (attachments ?? null) as unknown as JsonObject | null;
}

/** An output for the shared model. Lists of lines become one string: the model would join them with commas. */
export function toOutput(output: JsonObject): nbformat.IOutput {
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

/** Outputs of the shared model in their wire form. */
export function fromOutputs(
  outputs: readonly nbformat.IOutput[]
): JsonObject[] {
  return outputs.map(fromOutput);
}

function fromOutput(output: nbformat.IOutput): JsonObject {
  // nbformat outputs are JSON objects.
  return output as unknown as JsonObject;
}

/** The cells of a notebook file; null when they have no ids. */
export function fromFile(
  content: nbformat.INotebookContent
): CellInsert[] | null {
  const cells: CellInsert[] = [];
  for (const cell of content.cells) {
    if (typeof cell.id !== 'string') {
      return null;
    }
    cells.push(cellOfFile(cell, cell.id));
  }
  return cells;
}

function cellOfFile(cell: nbformat.ICell, cell_id: string): CellInsert {
  const code = cell.cell_type === 'code' ? (cell as nbformat.ICodeCell) : null;
  return {
    kind: 'cell-insert',
    cell_id,
    // nbformat knows these three types; its type also allows those of plugins.
    cell_type: cell.cell_type as CellInsert['cell_type'],
    source: Array.isArray(cell.source) ? cell.source.join('') : cell.source,
    // Metadata came out of JSON.
    metadata: cell.metadata as unknown as JsonObject,
    after: null,
    outputs: fromOutputs(code?.outputs ?? []).map(output =>
      fromOutput(toOutput(output))
    ),
    execution_count: code?.execution_count ?? null,
    attachments: (cell.attachments ?? null) as unknown as JsonObject | null
  };
}
