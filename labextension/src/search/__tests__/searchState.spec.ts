/** The quick-pick's state: the rules of answers, moves and marks, as tables. */

import { expect, test } from 'vitest';

import { problem } from '../../model/__tests__/fakes';
import { answer, match } from './fixtures';
import { byDocument, inShownOrder, snippetLines } from '../searchResults';
import {
  EMPTY,
  PAGE,
  reduceSearch,
  type ISearchState,
  type Move,
  type SearchAction
} from '../searchState';

const type = (query: string): SearchAction => ({ type: 'type', query });
const answers = (query: string, ...lines: number[]): SearchAction => ({
  type: 'answer',
  query,
  results: answer(...lines.map(line => match({ line })))
});
const move = (to: Move): SearchAction => ({ type: 'move', to });
const fail: SearchAction = { type: 'fail', failure: problem };

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
  ['a failure hides old matches', [type('a'), answers('a', 1), fail], '']
])('%s', (_, actions, expected) => {
  expect(shown(after(...actions))).toBe(expected);
});

test('a failure is shown until the next answer, and not in an empty field', () => {
  expect(after(type('a'), fail).failure).toBe(problem);
  expect(after(type('a'), fail, answers('a', 1)).failure).toBeNull();
  expect(after(type('a'), type(''), fail).failure).toBeNull();
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
  const ordered = inShownOrder([
    match({ path: 'b.py', line: 1 }),
    match({ path: 'a.py', line: 2 }),
    match({ path: 'b.py', line: 3 })
  ]);
  const groups = byDocument(ordered).map(({ path, rows }) => [
    path,
    ...rows.map(({ match: { line }, index }) => [index, line])
  ]);
  expect(groups).toEqual([
    ['b.py', [0, 1], [1, 3]],
    ['a.py', [2, 2]]
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
