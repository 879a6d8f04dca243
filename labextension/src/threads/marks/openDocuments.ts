/**
 * Open documents as the marks of threads need them: the editors and nodes that can show a thread, and when they
 * change. Used by `ThreadMarks`.
 */

import { CodeCell, MarkdownCell, type Cell } from '@jupyterlab/cells';
import { CodeMirrorEditor } from '@jupyterlab/codemirror';
import type { IEditorTracker } from '@jupyterlab/fileeditor';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Extension } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { Signal } from '@lumino/signaling';

import type { FilePanel } from '../../live-documents/openEditTargets';
import type { IWordPage, IWordPages } from '../../live-documents/wordPages';

/** An open document; several may show the same file. */
export type OpenDocument = NotebookPanel | FilePanel;

/** Distance from the viewport within which a cell counts as near: a few screens. */
const NEAR_MARGIN = '1500px';

/** The trackers of open documents. */
export interface IOpenDocumentsOptions {
  readonly notebooks: INotebookTracker;
  readonly files: IEditorTracker | null;
  readonly words: IWordPages | null;
}

/** The notebooks and text files of this page. */
export class OpenDocuments {
  constructor(
    private readonly lab: IOpenDocumentsOptions,
    /** Installed once in each editor that shows a thread. */
    private readonly extension: Extension
  ) {
    const { notebooks, files, words } = lab;
    words?.changed.connect(() => this.emit());
    notebooks.widgetAdded.connect((_, panel) => this.onNotebook(panel));
    notebooks.forEach(panel => this.onNotebook(panel));
    files?.widgetAdded.connect((_, panel) => this.onOpened(panel));
    files?.forEach(panel => this.onOpened(panel));
  }

  /** Emitted when a document, a cell with threads or its editor was added or removed. */
  readonly changed = new Signal<this, void>(this);

  get notebooks(): readonly NotebookPanel[] {
    return this.lab.notebooks.filter(({ context }) => context.isReady);
  }

  get files(): readonly FilePanel[] {
    return this.lab.files?.filter(({ context }) => context.isReady) ?? [];
  }

  get pages(): readonly IWordPage[] {
    return this.lab.words?.all ?? [];
  }

  /** The editor view of a cell or a file; null when it has none now. */
  viewIn(place: Cell | FilePanel): EditorView | null {
    const editor = 'content' in place ? place.content.editor : place.editor;
    const isUsable = editor instanceof CodeMirrorEditor && !editor.isDisposed;
    return isUsable ? this.prepared(editor) : null;
  }

  /** Watch a cell: whether it comes near the viewport, gets its editor or outputs, or hides its text. */
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

  /** Whether a cell is in or near the viewport. Marks are drawn only there: notebooks have hundreds of editors. */
  isNear(cell: Cell): boolean {
    return this.near.has(cell);
  }

  /** A number that changes whenever the cell may show its threads elsewhere. */
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
    // Hundreds of cells are never seen: do not draw in those.
    if (this.isNear(cell)) {
      this.emit();
    }
  }

  /** Observes which cells of a scrolled list are near. */
  private watcher(root: Element): IntersectionObserver {
    const known = this.watchers.get(root);
    if (known !== undefined) {
      return known;
    }
    const made = new IntersectionObserver(
      entries => entries.forEach(entry => this.seen(entry)),
      { root, rootMargin: NEAR_MARGIN }
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

/** Whether a cell's text is hidden or rendered. */
export function isTextHidden(cell: Cell): boolean {
  return cell.inputHidden || (cell instanceof MarkdownCell && cell.rendered);
}
