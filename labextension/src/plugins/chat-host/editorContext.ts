/** Watches the current document, cell and selection. Used by the chat plugin. */

import type { JupyterFrontEnd, ILabShell } from '@jupyterlab/application';
import type { Cell, ICodeCellModel } from '@jupyterlab/cells';
import type { CodeEditor } from '@jupyterlab/codeeditor';
import { DocumentWidget } from '@jupyterlab/docregistry';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { IEditorTracker } from '@jupyterlab/fileeditor';
import type { INotebookTracker } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';

import type { IEditorContext } from '../../host/chatHost';
import type { IWordPages } from '../../live-documents/wordPages';
import { selectionOf } from '../../live-documents/wordSelection';
import type { Selection } from '../../wire/generated';

const NOTHING: IEditorContext = {
  document: null,
  cell: null,
  selection: null,
  openDocuments: []
};

/** The editor context, with a signal when it changes. */
export class EditorContextWatcher {
  constructor(
    private readonly shell: JupyterFrontEnd.IShell,
    private readonly documents: IDocumentManager,
    private readonly notebooks: INotebookTracker | null,
    labShell: ILabShell | null,
    private readonly editors: IEditorTracker | null = null,
    private readonly words: IWordPages | null = null
  ) {
    labShell?.currentChanged.connect(this.update, this);
    labShell?.layoutModified.connect(this.update, this);
    notebooks?.currentChanged.connect(this.update, this);
    notebooks?.activeCellChanged.connect(this.onCell, this);
    notebooks?.selectionChanged.connect(this.update, this);
    editors?.currentChanged.connect(this.onEditor, this);
    this.followPages();
    this.onCell();
    this.onEditor();
  }

  readonly changed = new Signal<this, void>(this);

  get current(): IEditorContext {
    return this.situation;
  }

  private followPages(): void {
    this.words?.changed.connect(this.update, this);
    this.words?.selectionChanged.connect(this.update, this);
  }

  private readonly onCell = (): void => {
    const cell = this.notebooks?.activeCell ?? null;
    if (cell !== this.cell) {
      this.cell?.editor?.model.selections.changed.disconnect(this.update, this);
      this.cell = cell;
      void cell?.ready.then(() => {
        if (cell === this.cell && !cell.isDisposed) {
          cell.editor?.model.selections.changed.connect(this.update, this);
        }
      });
    }
    this.update();
  };

  /** Another file editor became current. */
  private readonly onEditor = (): void => {
    const editor = this.editors?.currentWidget?.content.editor ?? null;
    if (editor !== this.editor) {
      this.editor?.model.selections.changed.disconnect(this.update, this);
      this.editor = editor;
      editor?.model.selections.changed.connect(this.update, this);
    }
    this.update();
  };

  private readonly update = (): void => {
    const next = this.readContext();
    if (JSON.stringify(next) !== JSON.stringify(this.situation)) {
      this.situation = next;
      this.changed.emit();
    }
  };

  private readContext(): IEditorContext {
    const openDocuments = this.openDocuments();
    const document = this.activeDocument() ?? null;
    const panel = this.notebooks?.currentWidget ?? null;
    const cell =
      panel !== null && panel.context.path === document
        ? panel.content.activeCell
        : null;
    if (cell === null || panel === null) {
      const selection = this.selectionInFile(document);
      return { ...NOTHING, document, selection, openDocuments };
    }
    return {
      document,
      cell: {
        id: cell.model.id,
        number: panel.content.activeCellIndex + 1,
        hasError: hasError(cell)
      },
      selection: selectionIn(
        cell.editor,
        cell.model.sharedModel,
        cell.model.id
      ),
      openDocuments
    };
  }

  /** The selection in the current file, if it is open in an editor. */
  private selectionInFile(document: string | null): Selection | null {
    const page = this.words?.current ?? null;
    if (page !== null && page.context.path === document) {
      return selectionOf(page);
    }
    const widget = this.editors?.currentWidget;
    if (widget?.context.path !== document) {
      return null;
    }
    const { editor } = widget.content;
    return selectionIn(editor, editor.model.sharedModel, null);
  }

  /** The document in the main area; the focus may be in the panel. */
  private activeDocument(): string | undefined {
    const widget = this.shell.currentWidget;
    const context =
      widget instanceof DocumentWidget
        ? this.documents.contextForWidget(widget)
        : undefined;
    return context?.path ?? this.notebooks?.currentWidget?.context.path;
  }

  private openDocuments(): string[] {
    const paths = [...this.shell.widgets('main')].flatMap(
      widget => this.documents.contextForWidget(widget)?.path ?? []
    );
    return [...new Set(paths)];
  }

  private situation = NOTHING;
  private cell: Cell | null = null;
  private editor: CodeEditor.IEditor | null = null;
}

function selectionIn(
  editor: CodeEditor.IEditor | null,
  text: { getSource(): string },
  cell_id: string | null
): Selection | null {
  if (editor === null) {
    return null;
  }
  const { start, end } = editor.getSelection();
  const offsets = [editor.getOffsetAt(start), editor.getOffsetAt(end)];
  const [from, to] = [Math.min(...offsets), Math.max(...offsets)];
  return from === to
    ? null
    : {
        cell_id,
        range: { from, to },
        text: text.getSource().slice(from, to)
      };
}

/** Called at each caret move: outputs may be large and must not be converted to text. */
function hasError({ model }: Cell): boolean {
  if (model.type !== 'code') {
    return false;
  }
  const { outputs } = model as ICodeCellModel; // A model of this type is a code cell model.
  for (let index = 0; index < outputs.length; index++) {
    if (outputs.get(index).type === 'error') {
      return true;
    }
  }
  return false;
}
