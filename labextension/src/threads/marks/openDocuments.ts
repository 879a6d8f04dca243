/**
 * The open documents as the marks of threads see them: the editors and nodes in which a thread of a document can be
 * shown, and when there are others. Used by the marks of the page.
 */

import { CodeCell, MarkdownCell, type Cell } from '@jupyterlab/cells';
import { CodeMirrorEditor } from '@jupyterlab/codemirror';
import type { IEditorTracker } from '@jupyterlab/fileeditor';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Extension } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { Signal } from '@lumino/signaling';

import type { FilePanel } from '../../live-documents/openEditTargets';

/** An open document; several may show the same file. */
export type OpenDocument = NotebookPanel | FilePanel;

/** How far from what is seen a cell is near: some screens. */
const NEAR = '1500px';

/** What of the lab knows the open documents. */
export interface IOpenDocumentsOptions {
  readonly notebooks: INotebookTracker;
  readonly files: IEditorTracker | null;
}

/** The notebooks and text files of this page. */
export class OpenDocuments {
  constructor(
    private readonly lab: IOpenDocumentsOptions,
    /** What each editor that shows a thread is given once. */
    private readonly extension: Extension
  ) {
    const { notebooks, files } = lab;
    notebooks.widgetAdded.connect((_, panel) => this.onNotebook(panel));
    notebooks.forEach(panel => this.onNotebook(panel));
    files?.widgetAdded.connect((_, panel) => this.onOpened(panel));
    files?.forEach(panel => this.onOpened(panel));
  }

  /** Emitted when a document, a cell that shows a thread or the editor of one came or went. */
  readonly changed = new Signal<this, void>(this);

  get notebooks(): readonly NotebookPanel[] {
    return this.lab.notebooks.filter(({ context }) => context.isReady);
  }

  get files(): readonly FilePanel[] {
    return this.lab.files?.filter(({ context }) => context.isReady) ?? [];
  }

  /** The view of a cell or a file that shows its text; null where it has none now. */
  viewIn(place: Cell | FilePanel): EditorView | null {
    const editor = 'content' in place ? place.content.editor : place.editor;
    const isUsable = editor instanceof CodeMirrorEditor && !editor.isDisposed;
    return isUsable ? this.prepared(editor) : null;
  }

  /** Notice when a cell comes near what is seen, gets its editor or outputs, and when its text is hidden. */
  follow(cell: Cell, { content }: NotebookPanel): void {
    if (this.followed.has(cell)) {
      return;
    }
    const note = (): void => this.note(cell);
    this.followed.set(cell, 0);
    this.cells.set(cell.node, cell);
    this.watcher(content.outerNode).observe(cell.node);
    cell.inViewportChanged.connect(note);
    cell.displayChanged.connect(note);
    cell.model.metadataChanged.connect(note);
    void cell.ready.then(note);
    if (cell instanceof MarkdownCell) {
      cell.renderedChanged.connect(note);
    }
    if (cell instanceof CodeCell) {
      cell.outputArea.outputLengthChanged.connect(note);
    }
  }

  /** Whether a cell is seen, or will be soon: of the lab's hundreds of editors only these are drawn into. */
  isNear(cell: Cell): boolean {
    return this.near.has(cell);
  }

  /** Another number whenever a cell may show its threads elsewhere. */
  stateOf(cell: Cell): number {
    return this.followed.get(cell) ?? 0;
  }

  private prepared(editor: CodeMirrorEditor): EditorView {
    if (!this.given.has(editor)) {
      this.given.add(editor);
      editor.injectExtension(this.extension);
    }
    return editor.editor;
  }

  private onNotebook(panel: NotebookPanel): void {
    this.onOpened(panel);
    void panel.context.ready.then(() => {
      panel.content.model?.cells.changed.connect(this.emit);
    });
  }

  private onOpened(panel: OpenDocument): void {
    void panel.context.ready.then(() => {
      panel.context.pathChanged.connect(this.emit);
      panel.disposed.connect(this.emit);
      this.emit();
    });
  }

  private note(cell: Cell): void {
    this.followed.set(cell, this.stateOf(cell) + 1);
    // The lab makes hundreds of cells nobody sees: nothing is drawn into those.
    if (this.isNear(cell)) {
      this.emit();
    }
  }

  /** Looks which of the cells of a scrolled list are near. */
  private watcher(root: Element): IntersectionObserver {
    const known = this.watchers.get(root);
    if (known !== undefined) {
      return known;
    }
    const made = new IntersectionObserver(
      entries => entries.forEach(entry => this.seen(entry)),
      { root, rootMargin: NEAR }
    );
    this.watchers.set(root, made);
    return made;
  }

  private seen({ target, isIntersecting }: IntersectionObserverEntry): void {
    const cell = this.cells.get(target);
    if (cell === undefined || cell.isDisposed) {
      return;
    }
    if (isIntersecting) {
      this.near.add(cell);
      this.note(cell);
    } else {
      this.near.delete(cell);
    }
  }

  private readonly emit = (): void => {
    this.changed.emit();
  };

  private readonly followed = new WeakMap<Cell, number>();
  private readonly near = new WeakSet<Cell>();
  private readonly cells = new WeakMap<Element, Cell>();
  private readonly watchers = new WeakMap<Element, IntersectionObserver>();
  private readonly given = new WeakSet<CodeMirrorEditor>();
}

/** Whether what a cell says is seen another way, or not at all. */
export function isTextHidden(cell: Cell): boolean {
  return cell.inputHidden || (cell instanceof MarkdownCell && cell.rendered);
}
