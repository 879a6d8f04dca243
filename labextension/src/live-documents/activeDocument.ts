/** Where the user is: the document in front and the cell in it. Used by the affordances and by the start of threads. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { Cell } from '@jupyterlab/cells';
import { CodeMirrorEditor } from '@jupyterlab/codemirror';
import type { IEditorTracker } from '@jupyterlab/fileeditor';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { EditorView } from '@codemirror/view';

import type { FilePanel } from './openEditTargets';

/** A notebook or file in front, and the cell in it. */
export type ActiveDocument =
  | { readonly panel: NotebookPanel; readonly cell: Cell }
  | { readonly panel: FilePanel; readonly cell: null };

/** What of the lab knows where the user is. */
export interface IActiveDocumentSource {
  readonly app: JupyterFrontEnd;
  readonly notebooks: INotebookTracker;
  readonly files: IEditorTracker | null;
}

/** The document in front; the chat itself may have the focus. */
export function findActiveDocument({
  app,
  notebooks,
  files
}: IActiveDocumentSource): ActiveDocument | null {
  const file = files?.currentWidget ?? null;
  const notebook = notebooks.currentWidget;
  const { currentWidget } = app.shell;
  return file !== null && (currentWidget === file || !notebook?.isVisible)
    ? { panel: file, cell: null }
    : inNotebook(notebook);
}

function inNotebook(panel: NotebookPanel | null): ActiveDocument | null {
  const cell = panel?.content.activeCell ?? null;
  return panel === null || cell === null ? null : { panel, cell };
}

/** The editor at a place; cells out of view may have none. */
export function editorAt({ panel, cell }: ActiveDocument): EditorView | null {
  const editor = cell === null ? panel.content.editor : cell.editor;
  return editor instanceof CodeMirrorEditor ? editor.editor : null;
}
