/**
 * The anchor of a new thread: the selection, the line of the cursor in a file, a whole cell, or an output. Used by
 * `ThreadsController`.
 */

import { CodeCell, type Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';

import {
  editorAt,
  type ActiveDocument
} from '../live-documents/activeDocument';
import { isRendered } from '../live-documents/openEditTargets';
import type { IWordPage } from '../live-documents/wordPages';
import type { Anchor, TextRange } from '../wire/generated';
import {
  anchorOfCell,
  anchorOfText,
  trimmedSelection
} from './anchors/newAnchors';
import { withoutMark } from './anchors/byteOrderMark';
import { outputMemory } from './anchors/cellOutputs';

/** The anchor of the selection, the whole cell or the file's line; null when there is no text to anchor to. */
export function anchorOfSelection(place: ActiveDocument): Anchor | null {
  const selected = selectedAt(place);
  if (selected !== null) {
    return selected;
  }
  return place.cell === null
    ? lineAt(place)
    : anchorOfWholeCell(place.panel, place.cell);
}

/** The anchor of the selection in a Word page; null without one. */
export function anchorInPage({
  path,
  text,
  selection
}: IWordPage): Anchor | null {
  const meant = selection && trimmedSelection(text, selection);
  return meant && anchorOfText({ document: path, cellId: null }, text, meant);
}

/** The anchor of an output, by its index in the cell. */
export function anchorOfOutput(
  panel: NotebookPanel,
  cell: CodeCell,
  index: number
): Anchor {
  const { model } = cell;
  return anchorOfCell(
    panel.context.localPath,
    model.id,
    model.sharedModel.getSource(),
    outputMemory(cell.outputArea.model, index)
  );
}

/** The index of the clicked output, else of the last one; null when the cell has none. */
export function selectedOutput(
  cell: CodeCell,
  clicked: HTMLElement | undefined
): number | null {
  const { widgets, model } = cell.outputArea;
  const found = widgets.findIndex(({ node }) => node === clicked);
  // An input field is a widget but not an output.
  const index = found >= 0 && found < model.length ? found : model.length - 1;
  return index < 0 ? null : index;
}

/** The cell as a code cell; null for other types, which have no outputs. */
export function codeCell(cell: Cell | null): CodeCell | null {
  return cell instanceof CodeCell ? cell : null;
}

function anchorOfWholeCell(
  { context }: NotebookPanel,
  { model }: Cell
): Anchor {
  const source = model.sharedModel.getSource();
  return anchorOfCell(context.localPath, model.id, source, null);
}

function selectedAt(place: ActiveDocument): Anchor | null {
  const main = editorAt(place)?.state.selection.main;
  return main === undefined || main.empty || isRendered(place.cell)
    ? null
    : anchorOfPart(place, main);
}

function lineAt(place: ActiveDocument): Anchor | null {
  const state = editorAt(place)?.state;
  return state === undefined
    ? null
    : anchorOfPart(place, state.doc.lineAt(state.selection.main.head));
}

function anchorOfPart(place: ActiveDocument, part: TextRange): Anchor | null {
  const { panel, cell } = place;
  const shown = editorAt(place)?.state.doc.toString() ?? '';
  const selected = { from: part.from, to: part.to };
  const { text, part: known } =
    cell === null
      ? withoutMark(shown, selected)
      : { text: shown, part: selected };
  const meant = trimmedSelection(text, known);
  const document = panel.context.localPath;
  return (
    meant &&
    anchorOfText({ document, cellId: cell?.model.id ?? null }, text, meant)
  );
}
