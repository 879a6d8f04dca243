/**
 * Opens documents of the workspace at a cell, an output, lines or a range, and flashes it. Used by the hosts of the
 * chat and of search.
 */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { MarkdownCell, type Cell } from '@jupyterlab/cells';
import type { CodeEditor } from '@jupyterlab/codeeditor';
import { CodeMirrorEditor } from '@jupyterlab/codemirror';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { IEditorTracker } from '@jupyterlab/fileeditor';
import type { INotebookTracker } from '@jupyterlab/notebook';
import { EditorView } from '@codemirror/view';

import { flashElement, flashLines } from '../follow/flash';
import type { IDocumentTarget, ILineRange } from '../host/messageHost';
import { cellWithText } from '../text/quotedText';

/** Services that open and show documents. */
export interface IDocumentParts {
  readonly app: JupyterFrontEnd;
  readonly documents: IDocumentManager;
  readonly notebooks: INotebookTracker | null;
  readonly editors: IEditorTracker | null;
}

/** Open a target; a document without an editor is opened with its default viewer. */
export function openTarget(
  parts: IDocumentParts,
  target: IDocumentTarget
): void {
  const { app, documents } = parts;
  const { path } = target;
  if (target.isFolder === true) {
    void app.commands.execute('filebrowser:open-path', { path });
    return;
  }
  const widget = documents.openOrReveal(path);
  if (widget === undefined) {
    return;
  }
  void widget.context.ready.then(() => {
    const notebook = parts.notebooks?.find(open => open === widget);
    if (notebook !== undefined) {
      showCell(notebook.content, target);
      return;
    }
    const file = parts.editors?.find(open => open === widget);
    if (file !== undefined) {
      showInFile(file.content, target);
    }
  });
}

type Notebook = NonNullable<INotebookTracker['currentWidget']>['content'];
type FileEditor = NonNullable<IEditorTracker['currentWidget']>['content'];

/** Scroll to a cell or its output, select the target's range and flash it. */
function showCell(notebook: Notebook, target: IDocumentTarget): void {
  const index = cellIndex(notebook, target);
  const cell = notebook.widgets[index];
  if (cell === undefined) {
    return;
  }
  notebook.deselectAll();
  notebook.activeCellIndex = index;
  void notebook.scrollToItem(index, 'smart').then(async () => {
    await cell.ready;
    const part = cell.node.querySelector(
      target.part === 'output'
        ? '.jp-Cell-outputWrapper'
        : '.jp-Cell-inputWrapper'
    );
    if (target.part === 'output') {
      part?.scrollIntoView({ block: 'nearest' });
    } else {
      scrollToLines(cell, target.lines ?? null);
    }
    select(cell.editor, target);
    flashElement(part ?? cell.node);
  });
}

function cellIndex(notebook: Notebook, target: IDocumentTarget): number {
  const { cellId = null, cellNumber = null, text } = target;
  if (cellId === null) {
    return (cellNumber ?? 0) - 1;
  }
  const cells = notebook.widgets.map(({ model }) => model);
  const index = cells.findIndex(({ id }) => id === cellId);
  return index >= 0 || text === undefined
    ? index
    : cellWithText(
        cells.map(({ sharedModel }) => sharedModel.getSource()),
        text
      );
}

/** Scroll to lines of a cell that is taller than the notebook. */
function scrollToLines(cell: Cell, lines: ILineRange | null): void {
  const isRendered = cell instanceof MarkdownCell && cell.rendered;
  const view = isRendered ? null : viewOf(cell.editor);
  if (view !== null && lines !== null) {
    const { from } = rangeOf(view, lines);
    view.dispatch({ effects: EditorView.scrollIntoView(from) });
  }
}

function showInFile(file: FileEditor, target: IDocumentTarget): void {
  const { range = null, lines = null } = target;
  const view = viewOf(file.editor);
  if (range !== null) {
    select(file.editor, target);
  } else if (view !== null && lines !== null) {
    const shown = rangeOf(view, lines);
    view.dispatch({
      selection: { anchor: shown.from },
      effects: EditorView.scrollIntoView(shown.from, { y: 'center' })
    });
    view.focus();
    flashLines(view, [shown]);
  } else {
    flashElement(file.node);
  }
}

function viewOf(editor: CodeEditor.IEditor | null): EditorView | null {
  return editor instanceof CodeMirrorEditor ? editor.editor : null;
}

/** The range of lines, clipped to the text. */
function rangeOf(
  { state: { doc } }: EditorView,
  { first, last }: ILineRange
): { from: number; to: number } {
  const line = (number: number) => doc.line(Math.min(number, doc.lines));
  return { from: line(first).from, to: line(last).to };
}

/** Select a range, clipped to the text. */
function select(
  editor: CodeEditor.IEditor | null,
  { range }: IDocumentTarget
): void {
  if (editor === null || range === null || range === undefined) {
    return;
  }
  const { length } = editor.model.sharedModel.getSource();
  const at = (offset: number): CodeEditor.IPosition =>
    editor.getPositionAt(Math.min(offset, length)) ?? { line: 0, column: 0 };
  editor.setSelection({ start: at(range.from), end: at(range.to) });
  editor.revealSelection(editor.getSelection());
  editor.focus();
}
