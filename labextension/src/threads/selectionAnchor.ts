/**
 * Where the user means a thread to be: what is selected, the line of the cursor in a file, a whole cell, or an output.
 * Used by the threads of the page.
 */

import { CodeCell, type Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';

import {
  editorAt,
  type ActiveDocument
} from '../live-documents/activeDocument';
import { isRendered } from '../live-documents/openEditTargets';
import type { Anchor, TextRange } from '../wire/generated';
import { anchorOfCell, anchorOfText, meantPart } from './anchors/newAnchors';
import { withoutMark } from './anchors/byteOrderMark';
import { outputMemory } from './anchors/cellOutputs';

/** The anchor of what is selected, of a whole cell, or of a file's line; null when there is no text to pin it to. */
export function anchorHere(place: ActiveDocument): Anchor | null {
  const selected = selectedAt(place);
  if (selected !== null) {
    return selected;
  }
  return place.cell === null
    ? lineAt(place)
    : anchorOfWhole(place.panel, place.cell);
}

/** The anchor of an output; by its place among those of the cell. */
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

/** The place among the outputs of a cell of the one that was clicked, or the last. Null: it has none. */
export function meantOutput(
  cell: CodeCell,
  clicked: HTMLElement | undefined
): number | null {
  const { widgets, model } = cell.outputArea;
  const found = widgets.findIndex(({ node }) => node === clicked);
  // A field that asks for input is a widget, but no output.
  const index = found >= 0 && found < model.length ? found : model.length - 1;
  return index < 0 ? null : index;
}

/** The outputs of a cell; null of cells that can have none. */
export function codeCell(cell: Cell | null): CodeCell | null {
  return cell instanceof CodeCell ? cell : null;
}

function anchorOfWhole({ context }: NotebookPanel, { model }: Cell): Anchor {
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
  const meant = meantPart(text, known);
  const document = panel.context.localPath;
  return (
    meant &&
    anchorOfText({ document, cellId: cell?.model.id ?? null }, text, meant)
  );
}
