/** The quick-pick's state: the rules of answers, moves and marks, as tables. */

import { expect, test } from 'vitest';

import { problem } from '../../model/__tests__/fakes';
import type { MeaningStatus } from '../../wire/generated';
import { answer, match, MEANING } from './fixtures';
import { byDocument, inShownOrder, snippetLines } from '../searchResults';
import {
  EMPTY,
  PAGE,
  reduceSearch,
  type ISearchState,
  setupOf,
  wantsMeaning,
  type MeaningSetup,
  type Move,
  type SearchAction,
  type SearchBy
} from '../searchState';

const type = (query: string): SearchAction => ({ type: 'type', query });
const answersBy =
  (by: SearchBy) =>
  (query: string, ...lines: number[]): SearchAction => ({
    type: 'answer',
    query,
    by,
    results: answer(...lines.map(line => match({ line })))
  });
const answers = answersBy('words');
const answersBoth = answersBy('both');
const move = (to: Move): SearchAction => ({ type: 'move', to });
const failsBy = (by: SearchBy, query: string): SearchAction => ({
  ...{ type: 'fail', failure: problem },
  ...{ by, query }
});
const fail = failsBy('words', 'a');

const after = (...actions: SearchAction[]): ISearchState =>
  actions.reduce(reduceSearch, EMPTY);

/** The lines shown, with a star at the active one. */
const shown = ({ matches, active }: ISearchState): string =>
  matches
    .map(({ line }, index) => `${line}${index === active ? '*' : ''}`)
    .join(' ');

test.each<[string, SearchAction[], string]>([
  ['an answer is shown', [type('a'), answers('a', 1, 2)], '1* 2'],
  [
    'the old answer stays while another text is typed',
    [type('a'), answers('a', 1, 2), type('ab')],
    '1* 2'
  ],
  [
    'the first match is active after an answer to another text',
    [
      type('a'),
      answers('a', 1, 2),
      move('next'),
      type('b'),
      answers('b', 2, 3)
    ],
    '2* 3'
  ],
  [
    'the same match stays active after an answer to the same text',
    [type('a'), answers('a', 1, 2), move('next'), answers('a', 3, 2)],
    '3 2*'
  ],
  [
    'an active match that is gone gives way to the first',
    [type('a'), answers('a', 1, 2), move('next'), answers('a', 1, 3)],
    '1* 3'
  ],
  ['an empty field shows nothing', [type('a'), answers('a', 1), type(' ')], ''],
  [
    'an answer that comes after the field was cleared is dropped',
    [type('a'), type(''), answers('a', 1)],
    ''
  ],
  [
    'places found by meaning are added around the active match',
    [type('a'), answers('a', 1, 2), move('next'), answersBoth('a', 3, 2, 1)],
    '3 2* 1'
  ],
  [
    'without the active match the first of them is active',
    [type('a'), answers('a', 1, 2), move('next'), answersBoth('a', 3, 1)],
    '3* 1'
  ],
  [
    'an answer by meaning to an earlier text is dropped',
    [type('a'), answers('a', 1), type('ab'), answersBoth('a', 2)],
    '1*'
  ],
  [
    'a late answer by words does not replace that by meaning',
    [type('a'), answersBoth('a', 1, 2), answers('a', 1)],
    '1* 2'
  ],
  [
    'a late answer to a text that was left does not replace that to the current one',
    [type('a'), answersBoth('a', 1), type('ab'), type('a'), answers('ab', 2)],
    '1*'
  ],
  [
    'a failed search by meaning keeps the matches by words',
    [type('a'), answers('a', 1), failsBy('both', 'a')],
    '1*'
  ],
  [
    'a failed repetition hides old matches',
    [type('a'), answersBoth('a', 1), failsBy('both', 'a')],
    ''
  ],
  ['a failure hides old matches', [type('a'), answers('a', 1), fail], '']
])('%s', (_, actions, expected) => {
  expect(shown(after(...actions))).toBe(expected);
});

test('a failure is shown until the next answer, and not in an empty field', () => {
  expect(after(type('a'), fail).failure).toBe(problem);
  expect(after(type('a'), fail, answers('a', 1)).failure).toBeNull();
  expect(after(type('a'), type(''), fail).failure).toBeNull();
});

test.each<[string, MeaningSetup, boolean]>([
  ['read table', 'ready', true],
  ['read table', 'unknown', true],
  ['read table', 'none', false],
  ['read table', 'consent', false],
  ['re', 'ready', false],
  ['a 1234 b', 'ready', false],
  ['数据', 'ready', true]
])('%s with the setup %s searches by meaning: %s', (query, meaning, wants) => {
  const before = after({ type: 'meaning', meaning }, type(query));
  expect(wantsMeaning(before)).toBe(wants);
  const answered = reduceSearch(before, answersBoth(query, 1));
  expect(wantsMeaning(answered)).toBe(false);
});

const CONSENT = { host: 'h', model: 'm', chunks: 1, tokens: 9 };
test.each<[MeaningSetup, Partial<MeaningStatus> | null]>([
  ['none', null],
  ['none', { model: null }],
  ['ready', {}],
  ['consent', { consent: { ...CONSENT, cost_micro_usd: null } }]
])('the setup is %s with the status %j', (setup, change) => {
  expect(setupOf(change && { ...MEANING, ...change })).toBe(setup);
});

test.each<[Move[], number]>([
  [['next'], 1],
  [['next', 'previous'], 0],
  [['previous'], 11],
  [['previous', 'next'], 0],
  [['next-page'], PAGE],
  [['next-page', 'next-page', 'next-page'], 11],
  [['last', 'previous-page'], 11 - PAGE],
  [['next', 'previous-page'], 0],
  [['last'], 11],
  [['last', 'first'], 0]
])('%j moves to match %i of 12', (moves, active) => {
  const lines = Array.from({ length: 12 }, (_, index) => index + 1);
  const state = after(type('a'), answers('a', ...lines), ...moves.map(move));
  expect(state.active).toBe(active);
});

test('without matches nothing is active but the first', () => {
  expect(after(type('a'), answers('a'), move('previous')).active).toBe(0);
});

test('matches are grouped by document in the order of the best', () => {
  const talk = { session_id: 'ses_1', message_id: 'msg_1' };
  const ordered = inShownOrder([
    match({ path: 'b.py', line: 1 }),
    match({ path: 'a.py', line: 2 }),
    match({ path: '', conversation: talk, line: 1 }),
    match({ path: 'b.py', line: 3 })
  ]);
  const groups = byDocument(ordered).map(({ document, rows }) => [
    document,
    ...rows.map(({ match: { line }, index }) => [index, line])
  ]);
  expect(groups).toEqual([
    ['b.py', [0, 1], [1, 3]],
    ['a.py', [2, 2]],
    ['conversation ses_1', [3, 1]]
  ]);
});

/** Lines with their marked words in brackets. */
const marked = (snippet: string, marks: [number, number][]): string[] =>
  snippetLines({ snippet, marks }).map(line =>
    line.map(({ text, isMatch }) => (isMatch ? `[${text}]` : text)).join('')
  );

test.each<[string, string, [number, number][], string[]]>([
  ['a word', 'load data', [[5, 9]], ['load [data]']],
  [
    'words beside each other',
    'ab',
    [
      [0, 1],
      [1, 2]
    ],
    ['[ab]']
  ],
  ['code points', '😀 é data', [[4, 8]], ['😀 é [data]']],
  [
    'lines',
    'a b\nb',
    [
      [2, 3],
      [4, 5]
    ],
    ['a [b]', '[b]']
  ],
  ['a common indent', '  if a:\n    b\n', [[2, 4]], ['[if] a:', '  b', '']],
  ['nothing', 'x', [], ['x']],
  [
    'a late word',
    `${'x'.repeat(60)}word`,
    [[60, 64]],
    [`…${'x'.repeat(24)}[word]`]
  ]
])('a snippet with %s', (_, snippet, marks, lines) => {
  expect(marked(snippet, marks)).toEqual(lines);
});
