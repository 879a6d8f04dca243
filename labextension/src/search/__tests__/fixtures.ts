/** Answers of the server, for tests of search. */

import type {
  MeaningStatus,
  SearchIndexStatus,
  SearchMatch,
  SearchResults
} from '../../wire/generated';

export const MEANING: MeaningStatus = {
  model: 'nomic-embed-text',
  host: '127.0.0.1',
  is_local: true,
  store: 'local',
  dimension: 768,
  cost_micro_usd: null,
  missing: 0,
  consent: null,
  problem: null,
  models: []
};

export const INDEX: SearchIndexStatus = {
  state: 'ready',
  files: 1,
  conversations: 0,
  chunks: 1,
  behind: 0,
  bytes: 1,
  problems: [],
  meaning: null,
  file: null
};

export function match(change: Partial<SearchMatch> = {}): SearchMatch {
  return {
    path: 'a.py',
    kind: 'code',
    cell_id: null,
    line: 1,
    heading: '',
    heading_marks: [],
    name_marks: [],
    snippet: 'load data',
    is_output: false,
    marks: [[5, 9]],
    score: 1,
    matched_by: 'words',
    conversation: null,
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
