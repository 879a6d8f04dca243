/** State of the quick-pick and how it changes. Pure; held by `SearchStore`. */

import type {
  ErrorInfo,
  MeaningStatus,
  SearchMatch,
  SearchResults
} from '../wire/generated';
import { inShownOrder, placeOf } from './searchResults';

/** What a request searches by: `words` is answered at once, `both` may take seconds. */
export type SearchBy = 'words' | 'both';

/** Whether search by meaning is set up; `unknown` until the server has told. */
export type MeaningSetup = 'unknown' | 'none' | 'consent' | 'ready';

/** What the quick-pick shows. */
export interface ISearchState {
  /** The text in the field. */
  readonly query: string;
  /** The last answer, which may be to an earlier query; null before the first one. */
  readonly answer: {
    readonly query: string;
    readonly by: SearchBy;
    readonly results: SearchResults;
  } | null;
  /** The matches of the answer in the order they are shown. */
  readonly matches: readonly SearchMatch[];
  /** Index of the active match. */
  readonly active: number;
  /** Why the last request failed. */
  readonly failure: ErrorInfo | null;
  readonly meaning: MeaningSetup;
}

/** Where a key moves the active match. */
export type Move =
  'next' | 'previous' | 'next-page' | 'previous-page' | 'first' | 'last';

export type SearchAction =
  | { readonly type: 'type'; readonly query: string }
  | {
      readonly type: 'answer';
      readonly query: string;
      readonly by: SearchBy;
      readonly results: SearchResults;
    }
  | {
      readonly type: 'fail';
      readonly query: string;
      readonly by: SearchBy;
      readonly failure: ErrorInfo;
    }
  | { readonly type: 'meaning'; readonly meaning: MeaningSetup }
  | { readonly type: 'move'; readonly to: Move }
  | { readonly type: 'point'; readonly index: number };

export const EMPTY: ISearchState = {
  query: '',
  answer: null,
  matches: [],
  active: 0,
  failure: null,
  meaning: 'unknown'
};

/** Matches that Page Up and Page Down skip. */
export const PAGE = 5;

/** Whether there is nothing to search for. */
export function isBlank(query: string): boolean {
  return query.trim() === '';
}

/** A word long enough to have a meaning; scripts without capitals write more in a character. */
const WORD = /\p{L}{3}|\p{Lo}{2}/u;

/** Whether a search by meaning can add something to the answer to the current text. */
export function wantsMeaning({
  meaning,
  query,
  answer
}: ISearchState): boolean {
  const isPossible = meaning === 'unknown' || meaning === 'ready';
  const isAnswered = answer?.by === 'both' && answer.query === query;
  return isPossible && !isAnswered && WORD.test(query);
}

/** Reduces the server's status to what the quick-pick needs. */
export function setupOf(status: MeaningStatus | null): MeaningSetup {
  if (status === null) {
    return 'none';
  }
  if (status.consent !== null) {
    return 'consent';
  }
  return status.model === null ? 'none' : 'ready';
}

export function reduceSearch(
  state: ISearchState,
  action: SearchAction
): ISearchState {
  switch (action.type) {
    case 'type': {
      const { query } = action;
      // The previous matches stay until the next answer, so that the list does not flicker.
      return isBlank(query) ? cleared(state, query) : { ...state, query };
    }
    case 'answer':
      return isOutdated(state, action) ? state : answered(state, action);
    case 'fail':
      return isOutdated(state, action)
        ? state
        : { ...cleared(state, state.query), failure: action.failure };
    case 'meaning':
      return { ...state, meaning: action.meaning };
    case 'move':
      return { ...state, active: target(state, action.to) };
    case 'point':
      return { ...state, active: action.index };
  }
}

function cleared({ meaning }: ISearchState, query: string): ISearchState {
  return { ...EMPTY, query, meaning };
}

/** Whether a response must not replace what is shown. */
function isOutdated(
  { query, answer }: ISearchState,
  action: SearchAction & { readonly type: 'answer' | 'fail' }
): boolean {
  if (isBlank(query)) {
    return true; // The field was cleared during the request.
  }
  const isAnswered = answer?.query === query;
  if (action.query !== query) {
    return isAnswered || action.by === 'both'; // The latter would hide the answer by words.
  }
  // An answer by both is better, and a failed search by meaning takes nothing away.
  const isLess = action.by === 'words' || action.type === 'fail';
  return isAnswered && answer.by !== action.by && isLess;
}

function answered(
  state: ISearchState,
  { query, by, results }: SearchAction & { readonly type: 'answer' }
): ISearchState {
  const matches = inShownOrder(results.matches);
  const before = state.matches[state.active];
  const place =
    before !== undefined && state.answer?.query === query
      ? placeOf(before)
      : null;
  const kept = matches.findIndex(match => placeOf(match) === place);
  return {
    ...state,
    answer: { query, by, results },
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
