/**
 * The editors that show changes of the agent: the baseline of each, and reports to the server of the user's decisions
 * and edits. Used by `ReviewController`; knows CodeMirror, not JupyterLab.
 */

import type { Extension } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';

import { ApiError } from '../client/http';
import type { Decision, IHunkLabels } from '../editor/hunkDecorations';
import {
  baselineIn,
  decideAt,
  reviewIn,
  reviewView,
  showBaseline,
  undoAll,
  type IReviewListener
} from '../editor/reviewView';
import type { DecideEdit, PendingEdit } from '../wire/generated';
import { cellVersion, textVersion } from '../wire/versions';
import { adoptBaseline, chunkAt } from '../editor/textReview';
import type { IStop } from './navigation';

/** An editor of JupyterLab. */
export interface IReviewedEditor {
  readonly view: EditorView;
  readonly isDisposed: boolean;
  inject(extension: Extension): void;
  /** Make a change a separate step of the document's undo. */
  asOneStep(change: () => void): void;
}

/** Receives decisions and messages for the user. */
export interface IReviewDecisions {
  readonly labels: IHunkLabels;
  decide(id: string, body: DecideEdit): Promise<void>;
  refresh(): Promise<void>;
  failed(error: unknown): void;
  /** The changes in an editor have changed. */
  moved(): void;
}

/** An edit of a text that exists before and after it, and that an editor can show. */
export interface ITextEdit extends PendingEdit {
  baseline: string;
  current: string;
}

export function isTextEdit(edit: PendingEdit): edit is ITextEdit {
  return (
    edit.kind === 'text' && edit.baseline !== null && edit.current !== null
  );
}

interface IReviewedText {
  readonly editor: IReviewedEditor;
  edit: ITextEdit;
  /** The next report to the server. */
  next: Decision | null;
  telling: Promise<void> | null;
  /** The server's list changed during a report. */
  isOutdated: boolean;
  /** The user typed in this editor since the last report or request. */
  isTyped: boolean;
  /** Number of requests about the current text. */
  requests: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

const GONE = 404;
/** Delay after the last keystroke before reporting changes that the server cannot derive, in ms. */
const REPORT_DELAY = 1200;
/** Limit of requests, for a page without a connection. */
const MAX_REQUESTS = 8;

export class ReviewedEditors {
  constructor(
    private readonly decisions: IReviewDecisions,
    private readonly reportDelay = REPORT_DELAY
  ) {
    this.listener = {
      words: decisions.labels,
      decided: (view, decision) => this.decided(view, decision),
      rebased: (view, typed) => this.rebased(view, typed),
      asOneStep: (view, change) => this.attached.get(view)?.asOneStep(change)
    };
  }

  /** Show an edit, or its new state, in an editor. */
  show(editor: IReviewedEditor, edit: ITextEdit): void {
    const { view } = editor;
    const before = this.shown.get(view);
    if (before === undefined) {
      this.attach(editor);
      this.shown.set(view, made(editor, edit));
      this.adopt(view, edit);
      return;
    }
    const isNews = !isSame(before.edit, edit);
    before.edit = edit;
    if (before.telling !== null) {
      before.isOutdated ||= isNews;
    } else if (isNews) {
      this.adopt(view, edit);
    }
  }

  /** Remove the review from all other editors. */
  hideOthers(views: ReadonlySet<EditorView>): void {
    for (const [view, item] of this.shown) {
      if (!views.has(view)) {
        clearTimeout(item.timer);
        this.shown.delete(view);
        if (!item.editor.isDisposed) {
          showBaseline(view, null);
        }
      }
    }
  }

  /** An editor that shows an edit. */
  viewOf(edit: PendingEdit): EditorView | null {
    for (const [view, item] of this.shown) {
      if (item.edit.id === edit.id && !item.editor.isDisposed) {
        return view;
      }
    }
    return null;
  }

  /** Number of remaining changes of an edit in its editor; null when none shows it. */
  count(edit: PendingEdit): number | null {
    const view = this.viewOf(edit);
    return view === null ? null : (reviewIn(view)?.chunks.length ?? null);
  }

  /** The change at a position of an editor, by default the caret's. */
  stopAt(
    view: EditorView,
    position = view.state.selection.main.head
  ): IStop | null {
    const value = reviewIn(view);
    const edit = this.shown.get(view)?.edit;
    const chunk =
      value === null ? null : chunkAt(value, position, view.state.doc.length);
    return chunk && edit && value
      ? { edit, index: value.chunks.indexOf(chunk) }
      : null;
  }

  /** Decide on the change at a position, by default the caret's; false when there is none. */
  decideAt(view: EditorView, decision: Decision, position?: number): boolean {
    return decideAt(view, this.listener, decision, position);
  }

  /** Decide on all remaining changes of an edit in its editor; resolves when the server knows. */
  async decideWhole(view: EditorView, decision: Decision): Promise<void> {
    const item = this.shown.get(view);
    if (item === undefined) {
      return;
    }
    if (decision === 'undo') {
      undoAll(view, this.listener);
    } else {
      showBaseline(view, textIn(view));
    }
    await this.report(view, item, decision);
  }

  private attach(editor: IReviewedEditor): void {
    const { view } = editor;
    if (!this.attached.has(view)) {
      editor.inject(reviewView(this.listener));
    }
    this.attached.set(view, editor);
  }

  private adopt(view: EditorView, { current, baseline }: ITextEdit): void {
    const here = textIn(view);
    showBaseline(view, adoptBaseline(here, current, baseline));
    this.decisions.moved();
    const item = this.shown.get(view);
    if (here !== current && item !== undefined) {
      this.reportLater(view, item);
    }
  }

  private decided(view: EditorView, decision: Decision): void {
    const item = this.shown.get(view);
    this.decisions.moved();
    if (item !== undefined) {
      void this.report(view, item, decision);
    }
  }

  private rebased(view: EditorView, typed: boolean): void {
    const item = this.shown.get(view);
    this.decisions.moved();
    if (item === undefined) {
      return;
    }
    item.isTyped ||= typed;
    item.requests = 0;
    this.reportLater(view, item);
    if (item.telling === null && item.edit.current === textIn(view)) {
      // The text is the one the server describes, as when an edit is redone after a reload: its baseline fits.
      showBaseline(view, item.edit.baseline);
    }
  }

  /**
   * The text was unchanged for a while. Report the user's typing unless the server derives the same; changes from
   * elsewhere are the server's to know.
   */
  private reportTyping(view: EditorView, item: IReviewedText): void {
    if (this.shown.get(view) !== item || item.editor.isDisposed) {
      return;
    }
    const { isTyped } = item;
    item.isTyped = false;
    const here = textIn(view);
    const { current, baseline } = item.edit;
    const own = baselineIn(view);
    const isNews =
      own === here || own !== adoptBaseline(here, current, baseline);
    if (isTyped && isNews) {
      void this.report(view, item, 'keep');
    } else if (!isTyped && item.requests < MAX_REQUESTS) {
      item.requests += 1;
      void this.requestState(view, item);
    }
  }

  /** Ask for the server's view of the text until it has the current text. */
  private async requestState(
    view: EditorView,
    item: IReviewedText
  ): Promise<void> {
    await this.decisions.refresh();
    const isShown = this.shown.get(view) === item;
    if (isShown && item.edit.current !== textIn(view)) {
      this.reportLater(view, item);
    }
  }

  private reportLater(view: EditorView, item: IReviewedText): void {
    clearTimeout(item.timer);
    item.timer = setTimeout(
      () => this.reportTyping(view, item),
      this.reportDelay
    );
  }

  /** Report what is left to review; only the latest state counts. */
  private report(
    view: EditorView,
    item: IReviewedText,
    decision: Decision
  ): Promise<void> {
    clearTimeout(item.timer);
    item.next = decision;
    item.telling ??= this.sendReports(view, item).finally(() => {
      item.telling = null;
      const isShown = this.shown.get(view) === item;
      if (item.isOutdated && isShown && !item.editor.isDisposed) {
        this.adopt(view, item.edit);
      }
      item.isOutdated = false;
    });
    return item.telling;
  }

  private async sendReports(
    view: EditorView,
    item: IReviewedText
  ): Promise<void> {
    for (let { next } = item; next !== null; { next } = item) {
      item.next = null;
      try {
        await this.decisions.decide(
          item.edit.id,
          bodyOf(view, item.edit, next)
        );
      } catch (error) {
        item.isOutdated = true;
        if (!(error instanceof ApiError && error.status === GONE)) {
          this.decisions.failed(error);
        }
        await this.decisions.refresh();
        return;
      }
    }
  }

  private readonly listener: IReviewListener;
  private readonly shown = new Map<EditorView, IReviewedText>();
  private readonly attached = new WeakMap<EditorView, IReviewedEditor>();
}

function made(editor: IReviewedEditor, edit: ITextEdit): IReviewedText {
  return {
    editor,
    edit,
    next: null,
    telling: null,
    isOutdated: false,
    isTyped: false,
    requests: 0,
    timer: undefined
  };
}

function textIn(view: EditorView): string {
  return view.state.doc.toString();
}

function isSame(one: ITextEdit, other: ITextEdit): boolean {
  return (
    one.id === other.id &&
    one.baseline === other.baseline &&
    one.current === other.current
  );
}

function bodyOf(
  view: EditorView,
  { cell_id }: PendingEdit,
  decision: Decision
): DecideEdit {
  const text = textIn(view);
  return {
    decision,
    baseline: baselineIn(view) ?? text,
    current_version: cell_id === null ? textVersion(text) : cellVersion(text)
  };
}
