/**
 * What is asked about the text in an editor. Used by `controller.ts` and `labProvider.ts`; it knows CodeMirror, not the
 * lab.
 */

import type { EditorView } from '@codemirror/view';

import type { RequestCompletions } from '../wire/generated';
import type { SuggestionQuery } from './suggestionRequests';

/** Characters sent before and after the caret; the server takes no more, and cuts them for the model. */
const LONGEST_SIDE = 20_000;

/** An editor in a document. */
export interface IQueryPosition {
  readonly view: EditorView;
  readonly path: string;
  /** Null in a file. */
  readonly cellId: string | null;
  /** In lower case; empty when it is not known. */
  readonly language: string;
  /** Make a change a step of its own for the undo of the text. */
  asOneStep(change: () => void): void;
}

/** What is asked about the text around the caret. */
export function suggestionQueryAt(
  place: IQueryPosition,
  trigger: RequestCompletions['trigger']
): SuggestionQuery {
  const { state } = place.view;
  const { head } = state.selection.main;
  const prefix = state.sliceDoc(Math.max(0, head - LONGEST_SIDE), head);
  const suffix = state.sliceDoc(head, head + LONGEST_SIDE);
  return {
    path: place.path,
    cell_id: place.cellId,
    language: place.language,
    // Half a character is none.
    prefix: prefix.replace(/^[\udc00-\udfff]/, ''),
    suffix: suffix.replace(/[\ud800-\udbff]$/, ''),
    trigger
  };
}

/** Whether an editor can be given something at its caret: it has one, and may be written in. */
export function hasPlainCaret({ state }: EditorView): boolean {
  const { ranges, main } = state.selection;
  return !state.readOnly && ranges.length === 1 && main.empty;
}
