/**
 * The review view of an editor: shows the agent's changes against a baseline and lets the user keep or undo each.
 * Text the user types goes into the baseline in the same transaction. Used by `ReviewedEditors`; the undo is the
 * document's.
 */

import type { Chunk } from '@codemirror/merge';
import {
  Annotation,
  StateEffect,
  StateField,
  type Extension,
  Transaction,
  type Text
} from '@codemirror/state';
import { EditorView } from '@codemirror/view';

import {
  baselineOf,
  chunkAt,
  withFinalNewline,
  keepChange,
  compareWithBaseline,
  textOf,
  undoChange,
  rebaseBaseline,
  type ITextReview
} from './textReview';
import {
  decorateHunks,
  type Decision,
  type IHunkLabels
} from './hunkDecorations';

/** Callbacks of a view to the page. */
export interface IReviewListener {
  readonly words: IHunkLabels;
  /** The user decided on a change; the rest is in the view. */
  decided(view: EditorView, decision: Decision): void;
  /** The text changed: `typed` in this editor, or elsewhere by the user or the agent. */
  rebased(view: EditorView, typed: boolean): void;
  /** Make a user's change a separate step of the document's undo. */
  asOneStep(view: EditorView, change: () => void): void;
}

const setBaseline = StateEffect.define<Text | null>();
const decides = Annotation.define<Decision>();

const field = StateField.define<ITextReview | null>({
  create: () => null,
  update: (value, transaction) => next(value, transaction)
});

function next(
  value: ITextReview | null,
  transaction: Transaction
): ITextReview | null {
  const baseline = nextBaseline(value, transaction);
  if (baseline === null) {
    return null;
  }
  const isSame = baseline === value?.baseline && !transaction.docChanged;
  return isSame
    ? value
    : compareWithBaseline(baseline, withFinalNewline(transaction.state.doc));
}

function nextBaseline(
  value: ITextReview | null,
  transaction: Transaction
): Text | null {
  const given = transaction.effects.find(effect => effect.is(setBaseline));
  if (given !== undefined) {
    return given.value;
  }
  const isUsers = transaction.docChanged && !isDecision(transaction);
  return value !== null && isUsers
    ? rebaseBaseline(
        value,
        transaction.changes,
        withFinalNewline(transaction.startState.doc)
      )
    : (value?.baseline ?? null);
}

/** The extension for an editor; shows nothing without a baseline. */
export function reviewView(listener: IReviewListener): Extension {
  return [
    field,
    EditorView.decorations.compute([field], state => {
      const value = state.field(field);
      return decorateHunks(
        value ?? { baseline: withFinalNewline(state.doc), chunks: [] },
        state.doc,
        listener.words
      );
    }),
    EditorView.updateListener.of(update => {
      const before = update.startState.field(field, false) ?? null;
      const after = update.state.field(field);
      const isRebased = update.docChanged && after !== null && before !== null;
      if (isRebased && !update.transactions.some(isDecision)) {
        listener.rebased(update.view, update.transactions.some(isTyped));
      }
    })
  ];
}

/** Changes from the shared document have no user event. */
function isTyped(transaction: Transaction): boolean {
  return transaction.annotation(Transaction.userEvent) !== undefined;
}

function isDecision(transaction: Transaction): boolean {
  return transaction.annotation(decides) !== undefined;
}

/** The review state of an editor. */
export function reviewIn(view: EditorView): ITextReview | null {
  return view.state.field(field, false) ?? null;
}

/** The baseline of an editor. */
export function baselineIn(view: EditorView): string | null {
  const value = reviewIn(view);
  return value === null ? null : baselineOf(value);
}

/** Show the changes since `baseline`; null ends the review. */
export function showBaseline(view: EditorView, baseline: string | null): void {
  if (baselineIn(view) !== baseline) {
    const value = baseline === null ? null : withFinalNewline(textOf(baseline));
    view.dispatch({ effects: setBaseline.of(value) });
  }
}

/** Decide on the change at a position, by default the caret's; false when there is none. */
export function decideAt(
  view: EditorView,
  listener: IReviewListener,
  decision: Decision,
  position: number = view.state.selection.main.head
): boolean {
  const value = reviewIn(view);
  const chunk =
    value === null
      ? undefined
      : chunkAt(value, position, view.state.doc.length);
  if (value === null || chunk === undefined) {
    return false;
  }
  if (decision === 'keep') {
    const baseline = keepChange(value, chunk, withFinalNewline(view.state.doc));
    view.dispatch({ effects: setBaseline.of(baseline) });
  } else {
    listener.asOneStep(view, () => takeOut(view, value, [chunk]));
  }
  listener.decided(view, decision);
  return true;
}

/** Undo every change in one step. */
export function undoAll(view: EditorView, listener: IReviewListener): void {
  const value = reviewIn(view);
  if (value !== null && value.chunks.length > 0) {
    listener.asOneStep(view, () => takeOut(view, value, value.chunks));
  }
}

function takeOut(
  view: EditorView,
  value: ITextReview,
  chunks: readonly Chunk[]
): void {
  const { length } = view.state.doc;
  view.dispatch({
    changes: chunks.map(chunk => undoChange(value, chunk, length)),
    annotations: decides.of('undo'),
    userEvent: 'revert'
  });
}

/** Move the caret to a change, counted from 0, and scroll to it; false when it does not exist. */
export function goToChange(view: EditorView, index: number): boolean {
  const chunk = reviewIn(view)?.chunks.at(index);
  if (chunk === undefined) {
    return false;
  }
  const anchor = Math.min(chunk.fromB, view.state.doc.length);
  view.dispatch({
    selection: { anchor },
    effects: EditorView.scrollIntoView(anchor, { y: 'center' })
  });
  return true;
}
