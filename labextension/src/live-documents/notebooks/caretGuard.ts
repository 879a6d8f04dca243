/**
 * Keeps what the user types in the cell they type it into while cells are moved and deleted around
 * it: the lab puts the caret of a cell that goes into a neighbour. One per view of a notebook, told
 * of by `NotebookBridge`, asked and used by `OpenNotebook`.
 */

import type { YBaseCell } from '@jupyter/ydoc';
import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Transaction } from 'yjs';

import type { ISharedNotebookWithCells } from './sharedNotebook';

/** Whoever pressed a key in a cell so recently is typing there, in ms. */
const TYPING = 3000;

/** The caret while its cell is on the way. */
interface IAway {
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

  /** The id of the cell the user is typing in; null when they rest, or are elsewhere. */
  get typedIn(): string | null {
    const recent = performance.now() - this.typedAt < TYPING;
    return recent && this.lastTypedIn === this.cellId ? this.lastTypedIn : null;
  }

  /**
   * Take cells out of the notebook and put them in again. A caret in one of them comes back to the
   * cell with this id, with what is typed until its new editor is there; no other cell gets it.
   */
  around(cells: ReadonlySet<string>, change: () => void): void {
    const { cell } = this;
    if (cell !== null && cells.has(cell.model.id)) {
      this.leave(cell, cell.model.id);
    }
    try {
      change();
    } finally {
      this.return();
    }
  }

  /** A cell that is gone has lost its id. */
  private readonly beforeChange = (): void => {
    this.idBefore = this.cell?.model.id ?? null;
  };

  /** In a room others move cells too: the document has changed, the view does not know it yet. */
  private readonly beforeOthers = (transaction: Transaction): void => {
    const { cell, idBefore } = this;
    if (transaction.local || cell === null || idBefore === null) {
      return;
    }
    // Cells of a YNotebook are YBaseCells; the model's interface hides it.
    const { ymodel } = cell.model.sharedModel as YBaseCell<never>;
    const cells = this.shared.ydoc.getArray('cells');
    const isTouched = [...transaction.changed.keys()].includes(cells);
    if (isTouched && !cells.toArray().includes(ymodel)) {
      this.leave(cell, idBefore);
    }
  };

  private readonly afterOthers = (transaction: Transaction): void => {
    if (!transaction.local) {
      this.return();
    }
  };

  private get shared(): ISharedNotebookWithCells {
    // As in OpenNotebook.
    return this.panel.context.model
      .sharedModel as unknown as ISharedNotebookWithCells;
  }

  private readonly onKey = (): void => {
    this.lastTypedIn = this.cellId;
    this.typedAt = performance.now();
  };

  private get cellId(): string | null {
    return this.away?.cellId ?? this.cell?.model.id ?? null;
  }

  /** The cell whose editor has the focus of this page; its window need not have it. */
  private get cell(): Cell | null {
    const { activeCell } = this.panel.content;
    const editor = activeCell?.editorWidget?.node;
    return editor?.contains(document.activeElement) === true
      ? activeCell
      : null;
  }

  /** Take the focus out of the cell, to where keys do nothing but wait. */
  private leave(cell: Cell, cellId: string): void {
    const { editor } = cell;
    if (editor === null || this.away !== null) {
      return;
    }
    const { start, end } = editor.getSelection();
    const keys = document.createElement('textarea');
    keys.className = 'shoulders-Keys';
    keys.ariaHidden = 'true';
    // Beside the cells: what has the focus among them gets the keys of the command mode, which the
    // notebook is in as soon as its editor has lost the focus.
    this.panel.node.append(keys);
    keys.focus({ preventScroll: true });
    this.away = {
      cellId,
      from: editor.getOffsetAt(start),
      to: editor.getOffsetAt(end),
      keys
    };
  }

  private return(): void {
    if (this.away !== null) {
      void this.comeBack(this.away);
    }
  }

  private async comeBack(away: IAway): Promise<void> {
    const { content } = this.panel;
    const cell = content.widgets.find(({ model }) => model.id === away.cellId);
    if (cell === undefined) {
      // Deleted: nothing has the focus now, until the user clicks somewhere.
      this.end(away);
      return;
    }
    content.activeCellIndex = content.widgets.indexOf(cell);
    await cell.ready; // The lab makes its editor when it has time.
    const isGone = cell.isDisposed || this.panel.isDisposed;
    if (this.away !== away || isGone) {
      return; // Moved once more.
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

  private end(away: IAway): void {
    this.away = null;
    away.keys.remove();
  }

  private away: IAway | null = null;
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

  /** The cells somebody is typing in. */
  get typedIn(): ReadonlySet<string> {
    const ids = this.open.map(caret => caret.typedIn);
    return new Set(ids.filter(id => id !== null));
  }

  /** Take cells out of the notebook and put them in again. */
  around(cells: ReadonlySet<string>, change: () => void): void {
    this.open.reduce<() => void>(
      (inner, caret) => () => caret.around(cells, inner),
      change
    )();
  }

  private get open(): readonly CaretGuard[] {
    return this.all.filter(caret => !caret.isDisposed);
  }

  private all: readonly CaretGuard[] = [];
}
