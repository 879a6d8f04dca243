/** Answers of the server, for tests of search. */

import type { SearchMatch, SearchResults } from '../../wire/generated';

export function match(change: Partial<SearchMatch> = {}): SearchMatch {
  return {
    path: 'a.py',
    kind: 'code',
    cell_id: null,
    line: 1,
    heading: '',
    snippet: 'load data',
    is_output: false,
    marks: [[5, 9]],
    score: 1,
    matched_by: 'words',
    ...change
  };
}

export function answer(...matches: SearchMatch[]): SearchResults {
  return {
    matches,
    total: matches.length,
    index: { state: 'ready', behind: 0 },
    warning: null
  };
}
