/** State of the quick-pick and how it changes. Pure; held by `SearchStore`. */

import type { ErrorInfo, SearchMatch, SearchResults } from '../wire/generated';
import { inShownOrder, placeOf } from './searchResults';

/** What the quick-pick shows. */
export interface ISearchState {
  /** The text in the field. */
  readonly query: string;
  /** The last answer, which may be to an earlier query; null before the first one. */
  readonly answer: {
    readonly query: string;
    readonly results: SearchResults;
  } | null;
  /** The matches of the answer in the order they are shown. */
  readonly matches: readonly SearchMatch[];
  /** Index of the active match. */
  readonly active: number;
  /** Why the last request failed. */
  readonly failure: ErrorInfo | null;
}

/** Where a key moves the active match. */
export type Move =
  'next' | 'previous' | 'next-page' | 'previous-page' | 'first' | 'last';

export type SearchAction =
  | { readonly type: 'type'; readonly query: string }
  | {
      readonly type: 'answer';
      readonly query: string;
      readonly results: SearchResults;
    }
  | { readonly type: 'fail'; readonly failure: ErrorInfo }
  | { readonly type: 'move'; readonly to: Move }
  | { readonly type: 'point'; readonly index: number };

export const EMPTY: ISearchState = {
  query: '',
  answer: null,
  matches: [],
  active: 0,
  failure: null
};

/** Matches that Page Up and Page Down skip. */
export const PAGE = 5;

/** Whether there is nothing to search for. */
export function isBlank(query: string): boolean {
  return query.trim() === '';
}

export function reduceSearch(
  state: ISearchState,
  action: SearchAction
): ISearchState {
  switch (action.type) {
    case 'type': {
      const { query } = action;
      // The previous matches stay until the next answer, so that the list does not flicker.
      return isBlank(query) ? { ...EMPTY, query } : { ...state, query };
    }
    case 'answer':
      return answered(state, action.query, action.results);
    case 'fail':
      return isBlank(state.query)
        ? state
        : { ...EMPTY, query: state.query, failure: action.failure };
    case 'move':
      return { ...state, active: target(state, action.to) };
    case 'point':
      return { ...state, active: action.index };
  }
}

function answered(
  state: ISearchState,
  query: string,
  results: SearchResults
): ISearchState {
  if (isBlank(state.query)) {
    return state; // The field was cleared during the request.
  }
  const matches = inShownOrder(results.matches);
  const before = state.matches[state.active];
  const place =
    before !== undefined && state.answer?.query === query
      ? placeOf(before)
      : null;
  const kept = matches.findIndex(match => placeOf(match) === place);
  return {
    query: state.query,
    answer: { query, results },
    matches,
    active: Math.max(kept, 0),
    failure: null
  };
}

function target({ active, matches }: ISearchState, to: Move): number {
  const last = Math.max(matches.length - 1, 0);
  switch (to) {
    case 'next':
      return active >= last ? 0 : active + 1;
    case 'previous':
      return active <= 0 ? last : active - 1;
    case 'next-page':
      return Math.min(active + PAGE, last);
    case 'previous-page':
      return Math.max(active - PAGE, 0);
    case 'first':
      return 0;
    case 'last':
      return last;
  }
}

/** The move of a key in the field; null for other keys. */
export function moveOf(key: string): Move | null {
  switch (key) {
    case 'ArrowDown':
      return 'next';
    case 'ArrowUp':
      return 'previous';
    case 'PageDown':
      return 'next-page';
    case 'PageUp':
      return 'previous-page';
    case 'Home':
      return 'first';
    case 'End':
      return 'last';
    default:
      return null;
  }
}
