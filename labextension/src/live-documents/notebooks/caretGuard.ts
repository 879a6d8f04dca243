/**
 * Keeps the user's typing in its cell while cells are moved and deleted around it: JupyterLab moves the caret of a
 * removed cell to a neighbour. One per view of a notebook; created by `NotebookBridge`, used by `OpenNotebook`.
 */

import type { YBaseCell } from '@jupyter/ydoc';
import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Transaction } from 'yjs';

import type { ISharedNotebookWithCells } from './sharedNotebook';

/** A user who pressed a key in a cell within this time counts as typing there, in ms. */
const TYPING = 3000;

/** The caret while its cell is removed. */
interface ISavedCaret {
  readonly cellId: string;
  /** Offsets of the selection in the cell's text. */
  readonly from: number;
  readonly to: number;
  readonly keys: HTMLTextAreaElement;
}

/** The user's caret in one view of a notebook. */
export class CaretGuard {
  constructor(private readonly panel: NotebookPanel) {
    panel.node.addEventListener('keydown', this.onKey, true);
    const { ydoc } = this.shared;
    ydoc.on('beforeTransaction', this.beforeChange);
    ydoc.on('beforeObserverCalls', this.beforeOthers);
    ydoc.on('afterTransaction', this.afterOthers);
    panel.disposed.connect(() => {
      ydoc.off('beforeTransaction', this.beforeChange);
      ydoc.off('beforeObserverCalls', this.beforeOthers);
      ydoc.off('afterTransaction', this.afterOthers);
    });
  }

  get isDisposed(): boolean {
    return this.panel.isDisposed;
  }

  /** The id of the cell the user is typing in; null when the user is not typing. */
  get typedIn(): string | null {
    const recent = performance.now() - this.typedAt < TYPING;
    return recent && this.lastTypedIn === this.cellId ? this.lastTypedIn : null;
  }

  /**
   * Remove cells from the notebook and insert them again. A caret in one of them returns to the cell with the same
   * id, with the keys pressed until its new editor exists; no other cell gets the caret.
   */
  runAround(cells: ReadonlySet<string>, change: () => void): void {
    const { cell } = this;
    if (cell !== null && cells.has(cell.model.id)) {
      this.blur(cell, cell.model.id);
    }
    try {
      change();
    } finally {
      this.return();
    }
  }

  /** Remember the cell's id: a removed cell loses it. */
  private readonly beforeChange = (): void => {
    this.idBefore = this.cell?.model.id ?? null;
  };

  /** In a room other users move cells too: the document has changed, but not yet the view. */
  private readonly beforeOthers = (transaction: Transaction): void => {
    const { cell, idBefore } = this;
    if (transaction.local || cell === null || idBefore === null) {
      return;
    }
    // Cells of a YNotebook are YBaseCells; the model's interface hides this.
    const { ymodel } = cell.model.sharedModel as YBaseCell<never>;
    const cells = this.shared.ydoc.getArray('cells');
    const isTouched = [...transaction.changed.keys()].includes(cells);
    if (isTouched && !cells.toArray().includes(ymodel)) {
      this.blur(cell, idBefore);
    }
  };

  private readonly afterOthers = (transaction: Transaction): void => {
    if (!transaction.local) {
      this.return();
    }
  };

  private get shared(): ISharedNotebookWithCells {
    // The same cast as in OpenNotebook.
    return this.panel.context.model
      .sharedModel as unknown as ISharedNotebookWithCells;
  }

  private readonly onKey = (): void => {
    this.lastTypedIn = this.cellId;
    this.typedAt = performance.now();
  };

  private get cellId(): string | null {
    return this.saved?.cellId ?? this.cell?.model.id ?? null;
  }

  /** The cell whose editor has this page's focus; the window need not be focused. */
  private get cell(): Cell | null {
    const { activeCell } = this.panel.content;
    const editor = activeCell?.editorWidget?.node;
    return editor?.contains(document.activeElement) === true
      ? activeCell
      : null;
  }

  /** Move the focus from the cell to an element that collects the keys. */
  private blur(cell: Cell, cellId: string): void {
    const { editor } = cell;
    if (editor === null || this.saved !== null) {
      return;
    }
    const { start, end } = editor.getSelection();
    const keys = document.createElement('textarea');
    keys.className = 'shoulders-Keys';
    keys.ariaHidden = 'true';
    // The element is outside the cells: those would treat keys as command-mode shortcuts as soon as the editor loses
    // the focus.
    this.panel.node.append(keys);
    keys.focus({ preventScroll: true });
    this.saved = {
      cellId,
      from: editor.getOffsetAt(start),
      to: editor.getOffsetAt(end),
      keys
    };
  }

  private return(): void {
    if (this.saved !== null) {
      void this.comeBack(this.saved);
    }
  }

  private async comeBack(away: ISavedCaret): Promise<void> {
    const { content } = this.panel;
    const cell = content.widgets.find(({ model }) => model.id === away.cellId);
    if (cell === undefined) {
      // Deleted: nothing has the focus until the user clicks.
      this.end(away);
      return;
    }
    content.activeCellIndex = content.widgets.indexOf(cell);
    await cell.ready; // JupyterLab creates the editor later.
    const isGone = cell.isDisposed || this.panel.isDisposed;
    if (this.saved !== away || isGone) {
      return; // The cell was moved again.
    }
    const typed = away.keys.value;
    const hasFocus = document.activeElement === away.keys;
    const { editor } = cell;
    if (editor !== null) {
      const length = editor.model.sharedModel.getSource().length;
      const at = (offset: number) =>
        editor.getPositionAt(Math.min(offset, length)) ?? OUTSET;
      editor.setSelection({ start: at(away.from), end: at(away.to) });
      if (typed !== '' && !cell.readOnly) {
        editor.replaceSelection?.(typed);
      }
      if (hasFocus) {
        editor.focus();
      }
    }
    this.end(away);
  }

  private end(away: ISavedCaret): void {
    this.saved = null;
    away.keys.remove();
  }

  private saved: ISavedCaret | null = null;
  private idBefore: string | null = null;
  private lastTypedIn: string | null = null;
  private typedAt = -Infinity;
}

const OUTSET = { line: 0, column: 0 };

/** The carets in all views of a notebook. */
export class CaretGuards {
  /** A view of the notebook was opened. */
  add(caret: CaretGuard): void {
    this.all = [...this.open, caret];
  }

  /** The cells users are typing in. */
  get typedIn(): ReadonlySet<string> {
    const ids = this.open.map(caret => caret.typedIn);
    return new Set(ids.filter(id => id !== null));
  }

  /** Remove cells from the notebook and insert them again. */
  runAround(cells: ReadonlySet<string>, change: () => void): void {
    this.open.reduce<() => void>(
      (inner, caret) => () => caret.runAround(cells, inner),
      change
    )();
  }

  private get open(): readonly CaretGuard[] {
    return this.all.filter(caret => !caret.isDisposed);
  }

  private all: readonly CaretGuard[] = [];
}
