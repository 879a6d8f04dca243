/**
 * JupyterLab's documents for the review: the editors that show a changed text, and revealing them. Used by
 * `ReviewController`.
 */

import { MarkdownCell, type Cell } from '@jupyterlab/cells';
import type { CodeEditor } from '@jupyterlab/codeeditor';
import { CodeMirrorEditor } from '@jupyterlab/codemirror';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { IDocumentWidget } from '@jupyterlab/docregistry';
import type { FileEditor, IEditorTracker } from '@jupyterlab/fileeditor';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';
import type { UndoManager } from 'yjs';

import type { IWordPages } from '../live-documents/wordPages';
import type { PendingEdit } from '../wire/generated';
import type { IReviewedEditor } from './reviewedEditors';

/** Services the review needs. */
export interface IReviewLab {
  readonly notebooks: INotebookTracker;
  readonly files: IEditorTracker | null;
  readonly documents: IDocumentManager;
  readonly words: IWordPages | null;
}

type FilePanel = IDocumentWidget<FileEditor>;

/** The open documents. */
export class LabDocuments implements IDisposable {
  constructor(private readonly lab: IReviewLab) {
    lab.notebooks.widgetAdded.connect(this.onNotebook, this);
    lab.notebooks.forEach(panel => this.onNotebook(null, panel));
    lab.files?.widgetAdded.connect(this.onFile, this);
    lab.files?.forEach(panel => this.onFile(null, panel));
    lab.notebooks.currentChanged.connect(this.emit, this);
    lab.notebooks.activeCellChanged.connect(this.emit, this);
    lab.files?.currentChanged.connect(this.emit, this);
  }

  /** Emitted when a document, a cell or an editor was added or removed, or the current document changed. */
  readonly changed = new Signal<this, void>(this);

  get isDisposed(): boolean {
    return this.disposed;
  }

  /** The editors that show an edit's text; cells outside the viewport may have none yet. */
  editorsOf({ document, cell_id }: PendingEdit): IReviewedEditor[] {
    const editors =
      cell_id === null
        ? this.filesAt(document).map(({ content }) => content.editor)
        : this.cellsAt(document, cell_id).map(cell => cell.editor);
    return editors.flatMap(editor =>
      editor instanceof CodeMirrorEditor && !editor.isDisposed
        ? [this.reviewed(editor)]
        : []
    );
  }

  /** Every view of every open notebook. */
  get notebooks(): NotebookPanel[] {
    return this.lab.notebooks.filter(({ context }) => context.isReady);
  }

  /** The path of the current document. */
  get currentPath(): string | null {
    const { notebooks, files } = this.lab;
    const shown = [notebooks.currentWidget, files?.currentWidget ?? null];
    return shown.find(panel => panel?.isVisible)?.context.localPath ?? null;
  }

  /** The focused editor. */
  get activeEditor(): CodeEditor.IEditor | null {
    const { notebooks, files } = this.lab;
    const notebook = notebooks.currentWidget;
    return notebook?.isVisible === true
      ? (notebook.content.activeCell?.editor ?? null)
      : (files?.currentWidget?.content.editor ?? null);
  }

  /** Open the document of an edit and reveal its cell; returns the editor, if it has one. */
  async reveal(edit: PendingEdit): Promise<IReviewedEditor | null> {
    const { documents } = this.lab;
    const widget = documents.openOrReveal(edit.document);
    if (widget === undefined) {
      return null;
    }
    await widget.context.ready;
    const panel = this.lab.notebooks.find(open => same(open, widget));
    if (panel !== undefined) {
      await showCell(panel, edit);
    }
    return this.editorsOf(edit)[0] ?? null;
  }

  dispose(): void {
    if (!this.disposed) {
      this.disposed = true;
      Signal.clearData(this);
    }
  }

  private filesAt(path: string): FilePanel[] {
    return (
      this.lab.files?.filter(
        ({ context }) => context.localPath === path && context.isReady
      ) ?? []
    );
  }

  private cellsAt(path: string, id: string): Cell[] {
    const cells = this.notebooks
      .filter(({ context }) => context.localPath === path)
      .flatMap(({ content }) => content.widgets)
      .filter(({ model }) => model.id === id);
    cells.forEach(cell => this.follow(cell));
    return cells;
  }

  /** Watch a cell: when it gets its editor, and when its text is hidden by its rendering. */
  private follow(cell: Cell): void {
    if (this.followed.has(cell)) {
      return;
    }
    this.followed.add(cell);
    cell.inViewportChanged.connect(this.emit, this);
    void cell.ready.then(this.emit);
    if (cell instanceof MarkdownCell) {
      cell.renderedChanged.connect(this.emit, this);
    }
  }

  private reviewed(editor: CodeMirrorEditor): IReviewedEditor {
    const known = this.editors.get(editor);
    if (known !== undefined) {
      return known;
    }
    const made: IReviewedEditor = {
      view: editor.editor,
      get isDisposed() {
        return editor.isDisposed;
      },
      inject: extension => editor.injectExtension(extension),
      asOneStep: change => {
        const steps = undoManagerOf(editor.model);
        steps?.stopCapturing();
        change();
        steps?.stopCapturing();
      }
    };
    this.editors.set(editor, made);
    return made;
  }

  private readonly onNotebook = (_: unknown, panel: NotebookPanel): void => {
    void panel.context.ready.then(() => {
      panel.content.model?.cells.changed.connect(this.emit, this);
      this.opened(panel);
    });
  };

  private readonly onFile = (_: unknown, panel: FilePanel): void => {
    void panel.context.ready.then(() => this.opened(panel));
  };

  private opened(panel: NotebookPanel | FilePanel): void {
    panel.context.pathChanged.connect(this.emit, this);
    panel.disposed.connect(this.emit, this);
    this.emit();
  }

  private readonly emit = (): void => {
    if (!this.disposed) {
      this.changed.emit();
    }
  };

  private readonly followed = new WeakSet<Cell>();
  private readonly editors = new WeakMap<CodeMirrorEditor, IReviewedEditor>();
  private disposed = false;
}

function same(one: Widget, other: Widget): boolean {
  return one === other;
}

/** Reveal the cell of an edit with its text; for a removed cell, its position. */
async function showCell(
  { content }: NotebookPanel,
  { cell_id, current, position }: PendingEdit
): Promise<void> {
  const index =
    current === null
      ? Math.min(position ?? 0, content.widgets.length - 1)
      : content.widgets.findIndex(({ model }) => model.id === cell_id);
  const cell = content.widgets[index];
  if (cell === undefined) {
    return;
  }
  content.activeCellIndex = index;
  await content.scrollToItem(index, 'smart');
  await cell.ready;
  if (cell instanceof MarkdownCell && current !== null) {
    cell.rendered = false;
  }
}

/** The undo manager of a text; JupyterLab's interface lacks it. */
function undoManagerOf({ sharedModel }: CodeEditor.IModel): UndoManager | null {
  return (
    (sharedModel as { readonly undoManager?: UndoManager | null })
      .undoManager ?? null
  );
}
