/** Scrolls to the location of a thread. Used by `ThreadLocations`. */

import { CodeCell, MarkdownCell, type Cell } from '@jupyterlab/cells';
import type { CodeEditor } from '@jupyterlab/codeeditor';
import type { NotebookPanel } from '@jupyterlab/notebook';

import type { FilePanel } from '../live-documents/openEditTargets';
import type { Anchor, TextRange } from '../wire/generated';
import { outputAt } from './anchors/cellOutputs';
import type { IThreadPosition } from './tracking/trackedThread';

/** Reveal the location of a thread in a cell, by its number; false when the cell does not exist. */
export async function revealInNotebook(
  { content }: NotebookPanel,
  { unit, range }: IThreadPosition,
  anchor: Anchor,
  number: number
): Promise<boolean> {
  const index = number - 1;
  const cell = content.widgets[index];
  if (cell?.model.id !== unit.id) {
    return false;
  }
  content.deselectAll();
  content.activeCellIndex = index;
  await content.scrollToItem(index, 'smart');
  await cell.ready;
  show(cell, anchor);
  if (range !== null && cell.editor !== null) {
    cell.inputHidden = false;
    content.mode = 'edit';
    select(cell.editor, range);
  } else {
    content.activate();
  }
  return true;
}

/** Reveal the location of a thread in a file. */
export function revealInFile(
  panel: FilePanel,
  { range }: IThreadPosition
): void {
  panel.content.activate();
  if (range !== null) {
    select(panel.content.editor, range);
  }
}

function show(cell: Cell, anchor: Anchor): void {
  const { target } = anchor;
  if (target === 'source' && cell instanceof MarkdownCell) {
    cell.rendered = false;
  }
  if (target === 'output' && cell instanceof CodeCell) {
    cell.outputHidden = false;
    const { index } = outputAt(cell.outputArea.model, anchor);
    const output = cell.outputArea.widgets[index ?? -1] ?? cell.outputArea;
    output.node.scrollIntoView({ block: 'nearest' });
  }
}

function select(editor: CodeEditor.IEditor, { from, to }: TextRange): void {
  const start = editor.getPositionAt(from);
  const end = editor.getPositionAt(to);
  if (start !== undefined && end !== undefined) {
    editor.focus();
    editor.setSelection({ start, end });
    editor.revealSelection({ start, end });
  }
}
