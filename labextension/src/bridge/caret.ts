/**
 * Keeps what the user types in the cell they type it into while cells are moved and deleted around
 * it: the lab puts the caret of a cell that goes into a neighbour. One per view of a notebook, told
 * of by `DocumentBridge`, asked and used by `OpenNotebook`.
 */

import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';

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
export class Caret {
  constructor(private readonly panel: NotebookPanel) {
    panel.node.addEventListener('keydown', this.onKey, true);
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
    this.away ??= this.leave(cells);
    try {
      change();
    } finally {
      if (this.away !== null) {
        void this.comeBack(this.away);
      }
    }
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
  private leave(cells: ReadonlySet<string>): IAway | null {
    const { cell } = this;
    const editor = cell?.editor ?? null;
    if (cell === null || editor === null || !cells.has(cell.model.id)) {
      return null;
    }
    const { start, end } = editor.getSelection();
    const keys = document.createElement('textarea');
    keys.className = 'shoulders-Keys';
    keys.ariaHidden = 'true';
    // Beside the cells: what has the focus among them gets the keys of the command mode, which the
    // notebook is in as soon as its editor has lost the focus.
    this.panel.node.append(keys);
    keys.focus({ preventScroll: true });
    return {
      cellId: cell.model.id,
      from: editor.getOffsetAt(start),
      to: editor.getOffsetAt(end),
      keys
    };
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
  private lastTypedIn: string | null = null;
  private typedAt = -Infinity;
}

const OUTSET = { line: 0, column: 0 };

/** The carets in all views of a notebook. */
export class Carets {
  /** A view of the notebook was opened. */
  add(caret: Caret): void {
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

  private get open(): readonly Caret[] {
    return this.all.filter(caret => !caret.isDisposed);
  }

  private all: readonly Caret[] = [];
}
