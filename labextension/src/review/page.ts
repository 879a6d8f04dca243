/**
 * The review in this page: puts the pending edits into the open documents, carries the user's decisions out
 * and leads from one change to the next. Loaded by the review plugin when there is something to review.
 */

import '../../style/review.css';

import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import { CodeMirrorEditor } from '@jupyterlab/codemirror';

import type { Decision, IHunkWords } from '../editor/hunks';
import { goToChange } from '../editor/reviewView';
import { visible } from '../model/visible';
import type { PendingEdit } from '../wire/generated';
import { CellCards } from './cards';
import { EditorReviews, isTextEdit } from './editors';
import { LabDocuments, type ILab } from './lab';
import {
  byDocument,
  nextStop,
  placeOf,
  stopsOf,
  type IDocumentChanges,
  type IStop
} from './stops';
import type { ReviewStore } from './store';

/** What the page tells its user. */
export interface ITeller {
  /** For screen readers, politely. */
  say(text: string): void;
  failed(error: unknown): void;
}

/** What a bar shows. */
export interface IReviewState {
  readonly documents: readonly IDocumentChanges[];
  readonly changes: number;
  /** The change in front, from 1; 0 when none was gone to. */
  readonly place: number;
}

/** The review of this page. */
export class ReviewPage implements IDisposable {
  constructor(
    private readonly store: ReviewStore,
    lab: ILab,
    private readonly trans: TranslationBundle,
    private readonly teller: ITeller
  ) {
    this.documents = new LabDocuments(lab);
    this.editors = new EditorReviews({
      words: hunkWords(trans),
      decide: (id, body) => store.decide(id, body),
      refresh: () => store.refresh(),
      failed: error => teller.failed(error),
      moved: () => this.later()
    });
    this.cards = new CellCards(trans, (edit, decision) =>
      this.run(() => this.decide([edit], decision))
    );
    store.changed.connect(this.draw, this);
    this.documents.changed.connect(this.later, this);
    this.draw();
  }

  /** Emitted when `state` is another. */
  readonly changed = new Signal<this, void>(this);

  get state(): IReviewState {
    return this.current;
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  /** The edits of the document in front. */
  get here(): readonly PendingEdit[] {
    const path = this.documents.currentPath;
    return this.store.edits.filter(({ document }) => document === path);
  }

  /** Go to the next change, or the one before. */
  async step(by: 1 | -1): Promise<void> {
    const path = this.documents.currentPath;
    const stop = nextStop(this.stops, this.last, by, path);
    if (stop !== null) {
      await this.goTo(stop);
    }
  }

  /** Open a document at its first change. */
  async open(path: string): Promise<void> {
    const stop = this.stops.find(({ edit }) => edit.document === path);
    if (stop !== undefined) {
      await this.goTo(stop);
    }
  }

  /** Open the document of an edit at its first change. */
  async reveal(edit: PendingEdit): Promise<void> {
    await this.goTo({ edit, index: 0 });
  }

  /** Decide on the change at the caret, or the one gone to last; then go on to the one after it. */
  async decideHere(decision: Decision): Promise<void> {
    const editor = this.documents.activeEditor;
    const view = editor instanceof CodeMirrorEditor ? editor.editor : null;
    const stop = (view && this.editors.stopAt(view)) ?? this.last;
    if (stop === null) {
      return;
    }
    const place = placeOf(this.stops, stop);
    if (view === null || !this.editors.decideAtCaret(view, decision)) {
      if (isTextEdit(stop.edit)) {
        return;
      }
      await this.decide([stop.edit], decision);
    }
    this.say(decision);
    const after = this.stops;
    const next = after[place > after.length ? 0 : place - 1];
    if (next !== undefined) {
      await this.goTo(next);
    }
  }

  /** Decide on whole edits: in an open editor as the user's own step, else by the server. */
  async decide(
    edits: readonly PendingEdit[],
    decision: Decision
  ): Promise<void> {
    const others: PendingEdit[] = [];
    for (const edit of edits) {
      const view = isTextEdit(edit) ? this.editors.viewOf(edit) : null;
      if (view === null) {
        others.push(edit);
      } else {
        await this.editors.decideWhole(view, decision);
      }
    }
    await this.store.decideAll(decision, others);
    this.say(decision);
  }

  /** Do something, and tell the user when it fails. */
  run(act: () => Promise<unknown>): void {
    act().catch((error: unknown) => this.teller.failed(error));
  }

  dispose(): void {
    if (!this.disposed) {
      this.disposed = true;
      this.documents.dispose();
      Signal.clearData(this);
    }
  }

  private async goTo(stop: IStop): Promise<void> {
    this.last = stop;
    const editor = await this.documents.reveal(stop.edit);
    if (isTextEdit(stop.edit) && editor !== null) {
      this.editors.show(editor, stop.edit);
      goToChange(editor.view, stop.index);
      editor.view.focus();
    }
    this.update();
    const { place, changes } = this.state;
    const name = visible(stop.edit.document.split('/').at(-1) ?? '');
    this.teller.say(this.trans.__('Change %1 of %2, %3', place, changes, name));
  }

  private say(decision: Decision): void {
    this.teller.say(
      decision === 'keep' ? this.trans.__('Kept') : this.trans.__('Undone')
    );
  }

  /** Once for all that happens before the next frame. */
  private readonly later = (): void => {
    if (!this.waiting) {
      this.waiting = true;
      requestAnimationFrame(() => {
        this.waiting = false;
        this.draw();
      });
    }
  };

  private readonly draw = (): void => {
    if (this.disposed) {
      return;
    }
    const shown = new Set<EditorViewOf>();
    for (const edit of this.store.edits.filter(isTextEdit)) {
      for (const editor of edit.error === null
        ? this.documents.editorsOf(edit)
        : []) {
        shown.add(editor.view);
        this.editors.show(editor, edit);
      }
    }
    this.editors.keepOnly(shown);
    this.documents.notebooks.forEach(panel => {
      const path = panel.context.localPath;
      const edits = this.store.edits.filter(
        ({ document }) => document === path
      );
      this.cards.draw(panel, edits);
    });
    this.update();
  };

  private update(): void {
    const { stops } = this;
    const state = {
      documents: byDocument(stops),
      changes: stops.length,
      place: placeOf(stops, this.last)
    };
    if (keyOf(state) !== keyOf(this.current)) {
      this.current = state;
      this.changed.emit();
    }
  }

  private get stops(): IStop[] {
    return stopsOf(this.store.edits, edit => this.editors.count(edit));
  }

  private readonly documents: LabDocuments;
  private readonly editors: EditorReviews;
  private readonly cards: CellCards;
  private last: IStop | null = null;
  private current: IReviewState = { documents: [], changes: 0, place: 0 };
  private waiting = false;
  private disposed = false;
}

type EditorViewOf = CodeMirrorEditor['editor'];

/** What of a state is shown. */
function keyOf({ documents, place }: IReviewState): string {
  const shown = documents.map(({ document, edits, changes }) => [
    document,
    changes,
    ...edits.map(({ id, turn_id }) => [id, turn_id])
  ]);
  return JSON.stringify([place, shown]);
}

/** The words of a change in an editor. */
function hunkWords(trans: TranslationBundle): IHunkWords {
  return {
    keep: trans.__('Keep'),
    undo: trans.__('Undo'),
    keepThis: trans.__('Keep this change'),
    undoThis: trans.__('Undo this change'),
    title: (added, removed) =>
      trans.__(
        'Change by the agent: %1 lines added, %2 removed',
        added,
        removed
      )
  };
}
