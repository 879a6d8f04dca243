/**
 * Builds the request for suggestions from an editor's text. Used by `controller.ts` and `labProvider.ts`; knows
 * CodeMirror, not JupyterLab.
 */

import type { EditorView } from '@codemirror/view';

import type { RequestCompletions } from '../wire/generated';
import type { SuggestionQuery } from './suggestionRequests';

/** Characters sent before and after the caret; the server's limit. The server shortens them for the model. */
const MAX_CONTEXT = 20_000;

/** An editor in a document. */
export interface IQueryPosition {
  readonly view: EditorView;
  readonly path: string;
  /** Null for a file. */
  readonly cellId: string | null;
  /** In lower case; empty when unknown. */
  readonly language: string;
  /** Make a change a separate step of the text's undo. */
  asOneStep(change: () => void): void;
}

/** The request for the text around the caret. */
export function suggestionQueryAt(
  place: IQueryPosition,
  trigger: RequestCompletions['trigger']
): SuggestionQuery {
  const { state } = place.view;
  const { head } = state.selection.main;
  const prefix = state.sliceDoc(Math.max(0, head - MAX_CONTEXT), head);
  const suffix = state.sliceDoc(head, head + MAX_CONTEXT);
  return {
    path: place.path,
    cell_id: place.cellId,
    language: place.language,
    // Drop a lone surrogate.
    prefix: prefix.replace(/^[\udc00-\udfff]/, ''),
    suffix: suffix.replace(/[\ud800-\udbff]$/, ''),
    trigger
  };
}

/** Whether an editor has a single caret and is editable. */
export function hasPlainCaret({ state }: EditorView): boolean {
  const { ranges, main } = state.selection;
  return !state.readOnly && ranges.length === 1 && main.empty;
}
