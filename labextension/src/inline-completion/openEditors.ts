/** Finds editors of notebooks and files and their carets. Used by `controller.ts` and `labProvider.ts`. */

import type { Cell } from '@jupyterlab/cells';
import {
  CodeMirrorEditor,
  type IEditorLanguageRegistry
} from '@jupyterlab/codemirror';
import type { IDocumentWidget } from '@jupyterlab/docregistry';
import type { FileEditor, IEditorTracker } from '@jupyterlab/fileeditor';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { EditorView } from '@codemirror/view';
import type { Widget } from '@lumino/widgets';
import type { UndoManager } from 'yjs';

import { languageOf, type ILanguages } from './literalPlusPlus';
import type { IQueryPosition } from './requestBody';

/** Characters that include a cell magic. */
const HEAD = 200;

/** The open documents. */
export class OpenEditors {
  constructor(
    private readonly notebooks: INotebookTracker,
    private readonly files: IEditorTracker | null,
    languages: IEditorLanguageRegistry | null
  ) {
    this.languages = {
      byType: mimeType => languages?.findByMIME(mimeType)?.name ?? null,
      byName: name => languages?.findBest(name, false)?.name ?? null
    };
  }

  /** The document of an editor; null when it has none, as in a console or a dialog. */
  positionOf({ dom }: EditorView): IQueryPosition | null {
    const holds = ({ node }: Widget): boolean => node.contains(dom);
    const panel = this.notebooks.find(holds);
    if (panel !== undefined) {
      const cell = panel.content.widgets.find(holds);
      return cell === undefined ? null : this.inCell(panel, cell);
    }
    const file = this.files?.find(holds);
    return file === undefined ? null : this.inFile(file);
  }

  /** The caret of a document, by default the current one; null without one. */
  positionIn(widget: Widget | null): IQueryPosition | null {
    const isIt = (panel: Widget): boolean => panel === widget;
    const panel = this.notebooks.find(isIt);
    const cell = panel?.content.activeCell;
    if (panel !== undefined && cell) {
      return this.inCell(panel, cell);
    }
    const file = this.files?.find(isIt);
    return file === undefined ? null : this.inFile(file);
  }

  private inCell(
    { context }: NotebookPanel,
    cell: Cell
  ): IQueryPosition | null {
    return this.at(context.localPath, cell.model.id, cell.editor);
  }

  private inFile({
    context,
    content
  }: IDocumentWidget<FileEditor>): IQueryPosition | null {
    return this.at(context.localPath, null, content.editor);
  }

  private at(
    path: string,
    cellId: string | null,
    editor: unknown
  ): IQueryPosition | null {
    if (!(editor instanceof CodeMirrorEditor) || editor.isDisposed) {
      return null;
    }
    const { model, editor: view } = editor;
    const { mimeType } = model;
    const head = view.state.sliceDoc(0, HEAD);
    return {
      view,
      path,
      cellId,
      language: languageOf(mimeType, head, this.languages),
      asOneStep: change => {
        // JupyterLab's cells and files have this member; the model's interface lacks it.
        const { undoManager } = model.sharedModel as IUndone;
        undoManager?.stopCapturing();
        change();
        undoManager?.stopCapturing();
      }
    };
  }

  private readonly languages: ILanguages;
}

interface IUndone {
  readonly undoManager?: UndoManager | null;
}
