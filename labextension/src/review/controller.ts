/**
 * The review in this page: shows pending edits in open documents, carries out the user's decisions and navigates
 * between changes. Loaded by the review plugin when there is something to review.
 */

import '../../style/documents/review.css';

import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import { CodeMirrorEditor } from '@jupyterlab/codemirror';

import type { Decision } from '../editor/hunkDecorations';
import { goToChange } from '../editor/reviewView';
import { visible } from '../text/hiddenCharacters';
import type { PendingEdit } from '../wire/generated';
import { CellCards, type DecideEdit } from './cellCards';
import { ReviewedEditors, isTextEdit } from './reviewedEditors';
import { FocusReturn } from './focusReturn';
import { LabDocuments, type IReviewLab } from './labDocuments';
import { ChangePills, type ChangePill, type IPillChange } from './changePill';
import { ToolbarSpace } from './toolbarSpace';
import { keyOf, NOTHING, type IReviewState } from './barState';
import {
  afterDecision,
  byDocument,
  changesOf,
  nextStop,
  positionOf,
  stopInFront,
  stopsOf,
  type IStop
} from './navigation';
import type { PendingEditsStore } from './pendingEdits';
import { isWordEdit, WordCards } from './wordCards';

/** Messages to the user. */
export interface IReviewAnnouncer {
  /** Announce a text to screen readers, politely. */
  announce(text: string): void;
  failed(error: unknown): void;
}

export class ReviewController implements IDisposable {
  constructor(
    private readonly store: PendingEditsStore,
    lab: IReviewLab,
    private readonly trans: TranslationBundle,
    private readonly teller: IReviewAnnouncer
  ) {
    this.documents = new LabDocuments(lab);
    this.focus = new FocusReturn(() => this.documents.activeEditor?.focus());
    this.pills = new ChangePills(
      trans,
      {
        decide: (pill, decision) => this.decidePill(pill, decision),
        step: (pill, by, byKeyboard) =>
          this.run(() => this.stepFrom(pill, by, byKeyboard)),
        showAll: () => this.list(true),
        focusText: () => this.focus.giveBack()
      },
      () => this.update(),
      () => this.updateLater()
    );
    this.editors = new ReviewedEditors({
      labels: {
        title: hunkTitle(trans),
        control: (view, node) => this.controlOf(view, node)
      },
      decide: (id, body) => store.decide(id, body),
      refresh: () => store.refresh(),
      failed: error => teller.failed(error),
      moved: () => this.updateLater()
    });
    const decide: DecideEdit = (edit, decision) =>
      this.run(() => this.decide([edit], decision));
    const pill = (change: IPillChange): ChangePill => this.pills.make(change);
    this.cards = new CellCards(trans, decide, pill);
    this.pages = new WordCards(lab.words, trans, decide, pill, () =>
      this.updateLater()
    );
    store.changed.connect(this.draw, this);
    this.documents.changed.connect(this.updateLater, this);
    this.draw();
  }

  /** Emitted when `state` changed. */
  readonly changed = new Signal<this, void>(this);

  get state(): IReviewState {
    return this.current;
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  /** The edits of the current document. */
  get currentEdits(): readonly PendingEdit[] {
    const path = this.currentPath;
    return this.store.edits.filter(({ document }) => document === path);
  }

  /** Number of changes in an edit; the count used everywhere in the page. */
  countOf(edit: PendingEdit): number {
    return changesOf(edit, each => this.editors.count(each));
  }

  /** Go to the next or previous change; first to the current one, if the user was not there. */
  async step(by: 1 | -1): Promise<void> {
    const { stops, front } = this;
    const isNext = this.isVisited || by === -1;
    const stop = isNext ? nextStop(stops, front, by) : front;
    if (stop !== null) {
      await this.goTo(stop);
    }
  }

  /** Show or hide the list of all changes. */
  list(isListed: boolean): void {
    this.listed = isListed;
    this.update();
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

  /** Decide on the change at the caret, or the last visited one; then go to the next. */
  async decideCurrent(decision: Decision): Promise<void> {
    const editor = this.documents.activeEditor;
    const view = editor instanceof CodeMirrorEditor ? editor.editor : null;
    const stop = this.currentStop(view);
    if (stop === null) {
      return;
    }
    const place = positionOf(this.stops, stop);
    if (view === null || !this.editors.decideAt(view, decision)) {
      if (isTextEdit(stop.edit)) {
        return;
      }
      await this.decide([stop.edit], decision);
    }
    this.announce(decision);
    const after = this.stops;
    const next = after[place > after.length ? 0 : place - 1];
    if (next !== undefined) {
      await this.goTo(next);
    }
  }

  /** The change at the caret, or the last visited one. */
  private currentStop(view: EditorViewOf | null): IStop | null {
    const atCaret = view === null ? null : this.editors.stopAt(view);
    return atCaret ?? (this.isVisited ? this.front : null);
  }

  /** Decide on whole edits: in an open editor as an undoable step, else through the server. */
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
    this.announce(decision);
  }

  /** Return the focus to where it was before it moved into a control. */
  giveFocusBack(): void {
    this.focus.giveBack();
  }

  /** Run an action, and show its error to the user. */
  run(act: () => Promise<unknown>): void {
    act().catch((error: unknown) => this.teller.failed(error));
  }

  dispose(): void {
    if (!this.disposed) {
      this.disposed = true;
      this.documents.dispose();
      this.pills.dispose();
      this.toolbarSpace.dispose();
      this.focus.dispose();
      Signal.clearData(this);
    }
  }

  /** The control of a change in an editor. */
  private controlOf(view: EditorViewOf, node: HTMLElement): HTMLElement {
    const { trans } = this;
    return this.pills.make({
      labels: {
        keep: trans.__('Keep'),
        undo: trans.__('Undo'),
        keepTitle: trans.__('Keep this change'),
        undoTitle: trans.__('Undo this change')
      },
      stop: () => this.editors.stopAt(view, view.posAtDOM(node)),
      decide: decision => {
        if (this.editors.decideAt(view, decision, view.posAtDOM(node))) {
          this.announce(decision);
        }
      }
    }).node;
  }

  /** Decide on the change of a control; the focus and the caret stay. */
  private decidePill({ change }: ChangePill, decision: Decision): void {
    const stop = change.stop();
    if (stop === null) {
      return;
    }
    this.isVisited = false;
    this.hasStarted = true;
    this.focus.giveBack();
    change.decide(decision);
    this.front = afterDecision(this.front, stop);
  }

  private async stepFrom(
    { change }: ChangePill,
    by: 1 | -1,
    byKeyboard: boolean
  ): Promise<void> {
    const stop = nextStop(this.stops, change.stop(), by);
    if (stop !== null) {
      await this.goTo(stop);
    }
    if (byKeyboard) {
      this.pills.current?.focus(by);
    }
  }

  private async goTo(stop: IStop): Promise<void> {
    this.front = stop;
    this.isVisited = true;
    this.hasStarted = true;
    const editor = await this.documents.reveal(stop.edit);
    if (isWordEdit(stop.edit)) {
      this.pages.reveal(stop.edit, stop.index);
    }
    if (isTextEdit(stop.edit) && editor !== null) {
      this.editors.show(editor, stop.edit);
      goToChange(editor.view, stop.index);
      editor.view.focus();
    }
    this.update();
    const { position, changes } = this.state;
    const name = visible(stop.edit.document.split('/').at(-1) ?? '');
    this.teller.announce(
      this.trans.__('Change %1 of %2, %3', position, changes, name)
    );
  }

  private announce(decision: Decision): void {
    this.teller.announce(
      decision === 'keep' ? this.trans.__('Kept') : this.trans.__('Undone')
    );
  }

  /** Run once per animation frame. */
  private readonly updateLater = (): void => {
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
    this.editors.hideOthers(shown);
    this.documents.notebooks.forEach(panel => {
      const path = panel.context.localPath;
      const edits = this.store.edits.filter(
        ({ document }) => document === path
      );
      this.cards.draw(panel, edits);
      if (edits.length > 0) {
        this.toolbarSpace.fit(panel);
      }
    });
    this.pages.draw(this.store.edits.filter(isWordEdit));
    this.update();
  };

  private update(): void {
    this.startAtDocument();
    const { stops } = this;
    const front = stopInFront(stops, this.front, this.current.position);
    this.isVisited &&= positionOf(stops, this.front) > 0;
    this.front = front;
    const position = positionOf(stops, front);
    this.pills.number(stop => positionOf(stops, stop), position, stops.length);
    const state = {
      documents: byDocument(stops),
      changes: stops.length,
      position,
      isOutOfView: this.pills.isOutOfView,
      isListed: this.listed
    };
    if (keyOf(state) !== keyOf(this.current)) {
      this.current = state;
      this.changed.emit();
    }
  }

  /** Start at the current document, until the user has visited or decided on a change. */
  private startAtDocument(): void {
    const { edits } = this.store;
    if (edits.length === 0) {
      this.hasStarted = false;
      this.listed = false;
      this.front = null;
      this.first = null;
    }
    const path = this.currentPath;
    const isHere = edits.some(({ document }) => document === path);
    if (!this.hasStarted && isHere && path !== this.first) {
      this.first = path;
      this.front = null;
      this.current = { ...this.current, position: 0 };
    }
  }

  private get currentPath(): string | null {
    return this.pages.currentPath ?? this.documents.currentPath;
  }

  private get stops(): IStop[] {
    const { edits } = this.store;
    return stopsOf(edits, edit => this.editors.count(edit), this.first);
  }

  private readonly documents: LabDocuments;
  private readonly editors: ReviewedEditors;
  private readonly cards: CellCards;
  private readonly pages: WordCards;
  private readonly pills: ChangePills;
  private readonly focus: FocusReturn;
  private readonly toolbarSpace = new ToolbarSpace();
  /** The current change. */
  private front: IStop | null = null;
  /** Whether the user has visited it. */
  private isVisited = false;
  /** Whether the user has visited or decided on any of the current changes. */
  private hasStarted = false;
  /** The document whose changes come first. */
  private first: string | null = null;
  private listed = false;
  private current = NOTHING;
  private waiting = false;
  private disposed = false;
}

type EditorViewOf = CodeMirrorEditor['editor'];

/** Accessible name of a change in an editor. */
function hunkTitle(
  trans: TranslationBundle
): (added: number, removed: number) => string {
  return (added, removed) =>
    trans.__('Change by the agent: %1 lines added, %2 removed', added, removed);
}
