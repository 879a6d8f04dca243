/**
 * Cards in a notebook for changes that no text editor can show: cells that the agent added or removed, and changed
 * text behind a rendered cell. Used by `ReviewController`.
 */

import { MarkdownCell, type Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { PanelLayout, Widget } from '@lumino/widgets';

import type { Decision } from '../editor/hunkDecorations';
import { visible } from '../text/hiddenCharacters';
import type { PendingEdit } from '../wire/generated';
import type { ChangePill, IPillChange } from './changePill';

/** Decides on a whole edit. */
export type DecideEdit = (edit: PendingEdit, decision: Decision) => void;

/** The stored edit of `lost` (cell removed) and `unread` (cell present) cannot be read. */
type Kind = 'new' | 'deleted' | 'changed' | 'lost' | 'unread';

/** The cell that carries a card, at its top or below it. */
interface ICardPosition {
  readonly cell: Cell;
  readonly below: boolean;
}

export class CellCards {
  constructor(
    private readonly trans: TranslationBundle,
    private readonly decide: DecideEdit,
    private readonly pill: (change: IPillChange) => ChangePill
  ) {}

  /** Show the cards of exactly these edits in a view of their notebook. */
  draw(panel: NotebookPanel, edits: readonly PendingEdit[]): void {
    const cards = this.cards.get(panel) ?? new Map<string, CellCard>();
    this.cards.set(panel, cards);
    const wanted = new Set<string>();
    for (const edit of edits) {
      const place = cardPositionOf(panel, edit);
      if (place === null) {
        continue;
      }
      const kind = kindOf(edit, cellOf(panel, edit));
      const key = [kind, edit.id, edit.baseline ?? ''].join(' ');
      wanted.add(key);
      const before = cards.get(key);
      if (before?.parent !== place.cell) {
        before?.dispose();
        const card = this.cardOf(edit, kind);
        cards.set(key, card);
        put(card, place);
      }
    }
    for (const [key, card] of [...cards]) {
      if (!wanted.has(key)) {
        cards.delete(key);
        card.dispose();
      }
    }
  }

  private cardOf(edit: PendingEdit, kind: Kind): CellCard {
    const words = labelsOf(kind, this.trans);
    const title = (verb: string): string => `${verb}: ${words.label}`;
    const pill = this.pill({
      labels: {
        ...words,
        keepTitle: title(words.keep),
        undoTitle: title(words.undo ?? '')
      },
      stop: () => ({ edit, index: 0 }),
      decide: decision => this.decide(edit, decision)
    });
    return new CellCard(edit, kind, words, pill, this.trans);
  }

  private readonly cards = new WeakMap<NotebookPanel, Map<string, CellCard>>();
}

/** The kind of change; `cell` is the cell if it still exists. */
function kindOf({ baseline, current }: PendingEdit, cell?: Cell): Kind {
  if (baseline === null && current === null) {
    return cell === undefined ? 'lost' : 'unread';
  }
  if (baseline === null) {
    return 'new';
  }
  return current === null ? 'deleted' : 'changed';
}

function cellOf(
  { content }: NotebookPanel,
  { cell_id }: PendingEdit
): Cell | undefined {
  return content.widgets.find(({ model }) => model.id === cell_id);
}

function cardPositionOf(
  panel: NotebookPanel,
  edit: PendingEdit
): ICardPosition | null {
  const { widgets } = panel.content;
  const cell = cellOf(panel, edit);
  const kind = kindOf(edit, cell);
  if (kind === 'deleted' || kind === 'lost') {
    const position = Math.min(edit.position ?? 0, widgets.length);
    return cardPositionAt(widgets[Math.max(0, position - 1)], position > 0);
  }
  const isShown = !(cell instanceof MarkdownCell && cell.rendered);
  return kind === 'changed' && isShown ? null : cardPositionAt(cell, false);
}

/** A cell far outside the viewport has no layout yet. */
function cardPositionAt(
  cell: Cell | undefined,
  below: boolean
): ICardPosition | null {
  return cell === undefined || cell.isPlaceholder() ? null : { cell, below };
}

function put(card: CellCard, { cell, below }: ICardPosition): void {
  const { layout } = cell;
  if (layout instanceof PanelLayout) {
    layout.insertWidget(below ? layout.widgets.length : 0, card);
  }
}

/** One line with its control; for a removed cell also its text. */
class CellCard extends Widget {
  constructor(
    edit: PendingEdit,
    kind: Kind,
    { label }: ICardLabels,
    pill: ChangePill,
    trans: TranslationBundle
  ) {
    super();
    const { node } = this;
    node.className += ` shoulders-CellCard shoulders-mod-${kind}`;
    node.setAttribute('role', 'group');
    node.setAttribute('aria-label', label);
    const line = document.createElement('div');
    line.className = 'shoulders-CellCard-line';
    const text = document.createElement('span');
    text.className = 'shoulders-CellCard-text';
    text.textContent = label;
    line.append(text, pill.node);
    node.append(line);
    if (kind === 'deleted') {
      node.append(deletedTextOf(edit, trans));
    }
  }
}

interface ICardLabels {
  readonly label: string;
  readonly keep: string;
  /** Null if the change cannot be undone. */
  readonly undo: string | null;
}

function labelsOf(kind: Kind, trans: TranslationBundle): ICardLabels {
  const keep = trans.__('Keep');
  switch (kind) {
    case 'new':
      return { label: trans.__('New cell'), keep, undo: trans.__('Remove') };
    case 'deleted':
      return {
        label: trans.__('Deleted cell'),
        keep: trans.__('Keep deleted'),
        undo: trans.__('Restore')
      };
    case 'lost':
      return {
        label: trans.__('Deleted cell (its text was not kept)'),
        keep: trans.__('Dismiss'),
        undo: null
      };
    case 'unread':
      return {
        label: trans.__('Changed cell (its earlier text was not kept)'),
        keep: trans.__('Dismiss'),
        undo: null
      };
    case 'changed':
      return { label: trans.__('Changed text'), keep, undo: trans.__('Undo') };
  }
}

/** The text of a removed cell. */
function deletedTextOf(
  edit: PendingEdit,
  trans: TranslationBundle
): HTMLElement {
  const ghost = document.createElement('pre');
  ghost.className = 'shoulders-CellCard-ghost';
  ghost.tabIndex = 0;
  ghost.setAttribute('aria-label', trans.__('Text of the deleted cell'));
  const text = document.createElement('del');
  text.textContent = visible(edit.baseline ?? '');
  ghost.append(text);
  return ghost;
}
