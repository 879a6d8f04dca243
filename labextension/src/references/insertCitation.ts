/** Inserts citations at the caret of the active Markdown cell or file. Used by the controller. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { CodeMirrorEditor } from '@jupyterlab/codemirror';
import type { CodeEditor } from '@jupyterlab/codeeditor';
import type { IEditorTracker } from '@jupyterlab/fileeditor';
import { MarkdownCell } from '@jupyterlab/cells';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';

import {
  detectSyntax,
  insertionOf,
  type CitationSyntax
} from '../text/citationSyntax';

/** Where citations go. */
export interface ICitationTargets {
  readonly app: JupyterFrontEnd;
  readonly notebooks: INotebookTracker | null;
  readonly editors: IEditorTracker | null;
}

/** The syntax of the document in front: what it uses, else `fallback`. */
export function syntaxInFront(
  { app, editors, notebooks }: ICitationTargets,
  fallback: CitationSyntax
): CitationSyntax {
  const front = app.shell.currentWidget;
  const notebook = notebooks?.find(panel => panel === front);
  if (notebook !== undefined) {
    return detectSyntax(markdownOf(notebook)) ?? fallback;
  }
  const file = editors?.find(widget => widget === front);
  if (file?.context.path.endsWith('.tex') === true) {
    return 'latex';
  }
  const source = file?.content.model.sharedModel.getSource() ?? '';
  return detectSyntax(source) ?? fallback;
}

/** Cite a work in front; returns whether there is a place for it. */
export async function cite(
  targets: ICitationTargets,
  key: string,
  fallback: CitationSyntax
): Promise<boolean> {
  const { app, editors, notebooks } = targets;
  const front = app.shell.currentWidget;
  const syntax = syntaxInFront(targets, fallback);
  const notebook = notebooks?.find(panel => panel === front);
  if (notebook !== undefined) {
    return citeInCell(notebook, key, syntax);
  }
  const file = editors?.find(widget => widget === front);
  return file !== undefined && insert(file.content.editor, key, syntax, false);
}

async function citeInCell(
  { content }: NotebookPanel,
  key: string,
  syntax: CitationSyntax
): Promise<boolean> {
  const cell = content.activeCell;
  if (!(cell instanceof MarkdownCell)) {
    return false;
  }
  const wasRendered = cell.rendered;
  cell.rendered = false;
  await cell.ready;
  content.mode = 'edit';
  return insert(cell.editor, key, syntax, wasRendered);
}

function insert(
  editor: CodeEditor.IEditor | null,
  key: string,
  syntax: CitationSyntax,
  atEnd: boolean
): boolean {
  if (!(editor instanceof CodeMirrorEditor)) {
    return false;
  }
  const view = editor.editor;
  const source = view.state.doc.toString();
  const at = atEnd ? source.length : view.state.selection.main.head;
  const change = insertionOf(source, at, key, syntax);
  if (change !== null) {
    view.dispatch({
      changes: { from: change.at, insert: change.text },
      selection: { anchor: change.at + change.text.length },
      userEvent: 'input',
      scrollIntoView: true
    });
  }
  view.focus();
  return true;
}

/** The Markdown of a notebook as one text. */
export function markdownOf({ content }: NotebookPanel): string {
  return content.widgets
    .filter(({ model }) => model.type === 'markdown')
    .map(({ model }) => model.sharedModel.getSource())
    .join('\n\n');
}
