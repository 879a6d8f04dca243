/** The current document and its active cell. Used by inline actions and to start threads. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { Cell } from '@jupyterlab/cells';
import { CodeMirrorEditor } from '@jupyterlab/codemirror';
import type { IEditorTracker } from '@jupyterlab/fileeditor';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { EditorView } from '@codemirror/view';

import type { FilePanel } from './openEditTargets';

/** The current notebook or file, and the active cell. */
export type ActiveDocument =
  | { readonly panel: NotebookPanel; readonly cell: Cell }
  | { readonly panel: FilePanel; readonly cell: null };

/** The parts of JupyterLab that know the current document. */
export interface IActiveDocumentSource {
  readonly app: JupyterFrontEnd;
  readonly notebooks: INotebookTracker;
  readonly files: IEditorTracker | null;
}

/** The current document; the focus may be in the chat. */
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

/** The editor of a cell or file; cells outside the viewport may have none. */
export function editorAt({ panel, cell }: ActiveDocument): EditorView | null {
  const editor = cell === null ? panel.content.editor : cell.editor;
  return editor instanceof CodeMirrorEditor ? editor.editor : null;
}
