/** Finding references, the bibliography cell's text, citations in rendered Markdown. */

import { expect, test } from 'vitest';

import { markOf, readMark, updateOf } from '../bibliographyCell';
import { markCitations, paintCitations } from '../citationMarks';
import { clusterId } from '../formatter';
import { matching, shortAuthors } from '../matching';
import { WORKS } from './fixtures';

test.each([
  ['knu', ['knuth1984']],
  ['muller etude', ['muller2001']],
  ['1843', ['lovelace1843']],
  ['the', ['lovelace1843', 'knuth1984']],
  ['nothing', []],
  ['', ['lovelace1843', 'knuth1984', 'muller2001']]
])('%s finds %s', (query, keys) => {
  expect(matching(WORKS, query, 10).map(({ key }) => key)).toEqual(keys);
});

test.each([
  [[], ''],
  [['Ada Lovelace'], 'Lovelace'],
  [['Ada Lovelace', 'Ludwig van Beethoven'], 'Lovelace & van Beethoven'],
  [['A B', 'C D', 'E F'], 'B et al.']
])('authors %s are %s', (authors, text) => {
  expect(shortAuthors(authors)).toBe(text);
});

test.each([
  ['written', 'new', 'write'],
  ['written', 'written', 'none'],
  ['edited', 'new', 'edited']
] as const)('a cell with %s text, wanted %s: %s', (source, wanted, what) => {
  expect(updateOf(source, markOf('apa', 'written'), wanted)).toBe(what);
});

test('only a whole mark is one', () => {
  const mark = markOf('apa', 'text');
  expect(readMark({ ...mark })).toEqual(mark);
  expect(readMark({ style: 'apa' })).toBeNull();
  expect(readMark('apa')).toBeNull();
});

test('citations get spans, code and unknown names do not', () => {
  const root = document.createElement('div');
  root.innerHTML =
    '<p>A [@knuth1984] b {cite}<code>lovelace1843</code>, @knuth1984 and @someone.' +
    ' <code>[@knuth1984]</code> <a href="#">@knuth1984</a> \\cite{nobody}</p>';
  const isKnown = (key: string): boolean =>
    WORKS.some(work => work.key === key);
  const spans = markCitations(root, isKnown);
  expect(spans.map(({ raw }) => raw)).toEqual([
    '{cite}`lovelace1843`',
    '[@knuth1984]',
    '@knuth1984',
    '\\cite{nobody}'
  ]);
  expect(markCitations(root, isKnown)).toEqual([]);

  const texts = new Map([
    [clusterId(['knuth1984']), '<b>(Knuth)</b>'],
    [clusterId(['lovelace1843']), '(Lovelace)']
  ]);
  paintCitations(spans, texts, isKnown, keys => keys.join());
  expect(root.textContent).toBe(
    'A <b>(Knuth)</b> b (Lovelace), <b>(Knuth)</b> and @someone.' +
      ' [@knuth1984] @knuth1984 \\cite{nobody}'
  );
  expect(root.querySelector('b')).toBeNull();
  expect(spans[3]?.node.className).toContain('shoulders-mod-unknown');
  expect(spans[3]?.node.title).toBe('nobody');
});
