/**
 * Recovered text that no notebook has, offered to the page that opens the notebook: how it is merged (pure), and
 * which offers are shown. Used by `NotebookBridge`.
 */

import { UUID } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';

import type {
  CellEdit,
  CellInsert,
  DocumentRecovery,
  RecoveredCell
} from '../wire/generated';
import type { Send } from './documentAnnouncers';
import type { NotebookAnnouncer } from './documentAnnouncers';
import { mergeText } from '../text/merge';
import type { NotebookContext } from './notebooks/openNotebook';
import type { ICellView } from '../text/edits';

type Action = 'restored' | 'discarded';

/** A text before and after; `number` counts the notebook's cells from 1. */
export interface IComparison {
  readonly id: string;
  readonly number: number | null;
  readonly before: string;
  readonly after: string;
}

/** A recovery offer as shown. */
export interface IRecoveryOffer {
  /** When the text was stored, in ISO format. */
  readonly at: string;
  readonly author: DocumentRecovery['author'];
  readonly count: number;
  /** The changes that restoring would make to each cell now. */
  compare(): IComparison[];
  restore(): void;
  discard(): void;
}

/** Shows recovery offers to the user. */
export interface IRecoveryView {
  /** Show an offer in every view of a notebook until it is disposed. */
  offerRecovery(context: NotebookContext, offer: IRecoveryOffer): IDisposable;
  /** Tell the user that `cells` cells were changed since; both texts are kept. */
  notifyConflicts(path: string, cells: number): void;
}

/** The edits that insert recovered texts. */
export interface IRestoration {
  edits: CellEdit[];
  /** Number of cells changed since: their recovered text is in a new cell below. */
  conflicts: number;
}

/** Merge recovered texts into the current cells, in order. */
export function restoration(
  cells: readonly RecoveredCell[],
  here: readonly ICellView[]
): IRestoration {
  const known = new Map(here.map(cell => [cell.id, cell]));
  const placed = new Set(known.keys());
  const last = here.at(-1)?.id ?? null;
  const result: IRestoration = { edits: [], conflicts: 0 };
  for (const cell of cells) {
    const present = known.get(cell.id);
    if (present === undefined) {
      const isPlaced = cell.after === null || placed.has(cell.after);
      const after = isPlaced ? cell.after : last;
      result.edits.push(inserted(cell, cell.id, after, cell.cell_type));
      placed.add(cell.id);
      continue;
    }
    const text = merged(cell, present);
    if (text === null) {
      const id = UUID.uuid4().slice(0, 8);
      // It must not run by itself.
      result.edits.push(inserted(cell, id, cell.id, 'raw'));
      result.conflicts += 1;
    } else if (text !== present.source) {
      const cell_id = cell.id;
      result.edits.push({ kind: 'cell-source', cell_id, source: text });
    }
  }
  return result;
}

function merged(cell: RecoveredCell, here: ICellView): string | null {
  if (here.source === cell.source) {
    return here.source;
  }
  return cell.base === null || !here.editable
    ? null
    : mergeText(cell.base, here.source, cell.source);
}

function inserted(
  { source }: RecoveredCell,
  cell_id: string,
  after: string | null,
  cell_type: CellInsert['cell_type']
): CellInsert {
  return {
    kind: 'cell-insert',
    cell_id,
    cell_type,
    source,
    metadata: {},
    after,
    outputs: [],
    execution_count: null,
    attachments: null
  };
}

interface IShown {
  readonly open: NotebookAnnouncer;
  readonly cells: readonly RecoveredCell[];
  readonly notice: IDisposable;
}

/** The offers of all notebooks of this page. */
export class Recoveries {
  constructor(
    private readonly view: IRecoveryView,
    private readonly send: Send
  ) {}

  /** Show an offer once; a decided one is answered again. */
  offered(open: NotebookAnnouncer, frame: DocumentRecovery): void {
    const id = frame.recovery_id;
    const action = this.answered.get(id);
    if (action !== undefined) {
      this.answer(open, id, action);
      return;
    }
    const before = this.shown.get(id);
    if (before?.open === open && equal(before.cells, frame.cells)) {
      return; // Repeated after a reconnection: the user may be reading it.
    }
    this.withdrawn(id);
    const { notebook } = open;
    const offer: IRecoveryOffer = {
      at: frame.at,
      author: frame.author,
      count: frame.cells.length,
      compare: () => comparisons(frame.cells, notebook.views),
      restore: () => this.restore(open, frame),
      discard: () => this.decide(open, id, 'discarded')
    };
    const notice = this.view.offerRecovery(notebook.context, offer);
    this.shown.set(id, { open, cells: frame.cells, notice });
  }

  /** Remove a notice: it was answered in another page, or its own page is back. */
  withdrawn(id: string): void {
    this.shown.get(id)?.notice.dispose();
    this.shown.delete(id);
  }

  /** The notebook was closed: the offer comes again at its next opening. */
  closed(open: NotebookAnnouncer): void {
    for (const [id, item] of [...this.shown]) {
      if (item.open === open) {
        this.withdrawn(id);
      }
    }
  }

  private restore(open: NotebookAnnouncer, frame: DocumentRecovery): void {
    const { notebook } = open;
    const { edits, conflicts } = restoration(frame.cells, notebook.views);
    notebook.restore(edits);
    // The server receives the text as this page's before it deletes the copy.
    open.announce();
    this.decide(open, frame.recovery_id, 'restored');
    if (conflicts > 0) {
      this.view.notifyConflicts(open.path, conflicts);
    }
  }

  private decide(open: NotebookAnnouncer, id: string, action: Action): void {
    this.answered.set(id, action);
    this.withdrawn(id);
    this.answer(open, id, action);
  }

  /** Without a connection the answer is sent when the server offers it again. */
  private answer(open: NotebookAnnouncer, id: string, action: Action): void {
    this.send({
      type: 'document-recovery-answer',
      path: open.path,
      recovery_id: id,
      action
    });
  }

  private readonly shown = new Map<string, IShown>();
  private readonly answered = new Map<string, Action>();
}

function equal(
  some: readonly RecoveredCell[],
  others: readonly RecoveredCell[]
): boolean {
  return JSON.stringify(some) === JSON.stringify(others);
}

function comparisons(
  cells: readonly RecoveredCell[],
  here: readonly ICellView[]
): IComparison[] {
  return cells.map(({ id, source }) => {
    const index = here.findIndex(cell => cell.id === id);
    const before = here[index]?.source ?? '';
    return {
      id,
      number: index < 0 ? null : index + 1,
      before,
      after: source
    };
  });
}
