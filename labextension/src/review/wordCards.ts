/**
 * The agent's changes on Word pages: under each changed paragraph a card with the old and the new text and the control.
 * A document's changes are kept or undone together. Used by `ReviewController`.
 */

import type { TranslationBundle } from '@jupyterlab/translation';

import type {
  IParagraphNote,
  IWordPage,
  IWordPages
} from '../live-documents/wordPages';
import { diffWords, type IWordLine } from '../text/diff';
import { visible } from '../text/hiddenCharacters';
import type { PendingEdit } from '../wire/generated';
import type { DecideEdit } from './cellCards';
import type { ChangePill, IPillChange } from './changePill';

/** Class of a changed paragraph. */
const CHANGED = 'shoulders-Word-changed';
/** A line break inside of a paragraph. */
const LINE_BREAK = /\u2028/g;

/** The cards of one page and what they show. */
interface IDrawn {
  readonly key: string;
  readonly notes: readonly IParagraphNote[];
}

export class WordCards {
  constructor(
    private readonly words: IWordPages | null,
    private readonly trans: TranslationBundle,
    private readonly decide: DecideEdit,
    private readonly pill: (change: IPillChange) => ChangePill,
    changed: () => void
  ) {
    words?.changed.connect(changed);
  }

  /** The path of the Word page that is the current document. */
  get currentPath(): string | null {
    return this.words?.current?.path ?? null;
  }

  /** Show the cards of exactly these edits on all pages. */
  draw(edits: readonly PendingEdit[]): void {
    for (const page of this.words?.all ?? []) {
      const edit = edits.find(({ document }) => document === page.path);
      const key = edit === undefined ? '' : keyOf(edit);
      if (this.drawn.get(page)?.key !== key) {
        const notes = edit === undefined ? [] : this.notesOf(edit);
        this.drawn.set(page, { key, notes });
        page.showNotes(notes);
      }
    }
  }

  /** Scroll the page of an edit to one of its changes, by its index. */
  reveal({ document, hunks }: PendingEdit, index: number): void {
    const hunk = hunks[index] ?? hunks[0];
    if (hunk !== undefined) {
      this.words?.at(document)?.revealParagraph(paragraphOf(hunk));
    }
  }

  private notesOf(edit: PendingEdit): IParagraphNote[] {
    const [old, now] = [edit.baseline ?? '', edit.current ?? ''].map(text =>
      text.split('\n')
    );
    return edit.hunks.map((hunk, index) => ({
      paragraph: paragraphOf(hunk),
      className: CHANGED,
      node: this.cardOf(
        edit,
        index,
        (old ?? []).slice(hunk.before_from, hunk.before_to).join('\n'),
        (now ?? []).slice(hunk.after_from, hunk.after_to).join('\n')
      )
    }));
  }

  private cardOf(
    edit: PendingEdit,
    index: number,
    old: string,
    now: string
  ): HTMLElement {
    const { trans } = this;
    const card = document.createElement('div');
    card.className = 'shoulders-WordCard';
    card.setAttribute('role', 'group');
    card.setAttribute('aria-label', trans.__('Change by the agent'));
    const several = edit.hunks.length > 1;
    const pill = this.pill({
      labels: {
        keep: several ? trans.__('Keep all') : trans.__('Keep'),
        undo: several ? trans.__('Undo all') : trans.__('Undo'),
        keepTitle: trans.__('Keep the changes of this document'),
        undoTitle: trans.__('Undo the changes of this document')
      },
      stop: () => ({ edit, index }),
      decide: decision => this.decide(edit, decision)
    });
    const text = document.createElement('div');
    text.className = 'shoulders-WordCard-text';
    text.append(...diffWords(old, now).map(lineOf));
    card.append(text, pill.node);
    return card;
  }

  private readonly drawn = new WeakMap<IWordPage, IDrawn>();
}

/** Whether an edit is of a Word document. */
export function isWordEdit({ kind }: PendingEdit): boolean {
  return kind === 'word';
}

/** The last changed paragraph; where paragraphs were removed, the one before them. */
function paragraphOf({ after_to }: PendingEdit['hunks'][number]): number {
  return Math.max(1, after_to);
}

function keyOf({ id, baseline, current }: PendingEdit): string {
  return JSON.stringify([id, baseline, current]);
}

/** One paragraph, with the words that the other side lacks. */
function lineOf({ kind, text, words }: IWordLine): HTMLElement {
  const line = document.createElement('p');
  const change = kind === 'old' ? 'del' : kind === 'new' ? 'ins' : null;
  line.className = `shoulders-WordCard-line shoulders-mod-${kind}`;
  const parent =
    change === null ? line : line.appendChild(document.createElement(change));
  let at = 0;
  for (const { from, to } of words) {
    parent.append(shown(text.slice(at, from)));
    const mark = document.createElement('b');
    mark.textContent = shown(text.slice(from, to));
    parent.append(mark);
    at = to;
  }
  parent.append(shown(text.slice(at)));
  return line;
}

function shown(text: string): string {
  return visible(text.replace(LINE_BREAK, '\n'));
}
