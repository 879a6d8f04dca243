/** Citations are found outside code, completed, and joined to one that is there. */

import { expect, test } from 'vitest';

import {
  citationText,
  detectSyntax,
  findCitations,
  insertionOf,
  keyContext
} from '../citationSyntax';

test.each([
  ['a [@one; see @two, p. 3]', [['one', 'two']]],
  ['a {cite}`one,two` and {cite:p}`three`', [['one', 'two'], ['three']]],
  ['a \\cite{one} \\parencite[p. 3]{two, three}', [['one'], ['two', 'three']]],
  ['as @one2020 says', [['one2020']]],
  ['mail me@one.org, [x](@one)', []],
  ['`[@one]` and ``\\cite{two}``', []],
  ['```\n[@one]\n```\n[@two]', [['two']]],
  ['see @fig-one', []],
  ['[-@one]', [['one']]]
])('%s', (text, keys) => {
  expect(findCitations(text).map(citation => citation.keys)).toEqual(keys);
});

test('positions are those of the text', () => {
  const text = 'x `y` [@one].';
  const [citation] = findCitations(text);
  expect(text.slice(citation?.start, citation?.end)).toBe('[@one]');
});

test.each([
  ['As [@lov', { prefix: 'lov', close: ']' }],
  ['As [@one; @', { prefix: '', close: ']' }],
  ['As @lov', { prefix: 'lov', close: '' }],
  ['{cite}`', { prefix: '', close: '`' }],
  ['{cite:t}`one, tw', { prefix: 'tw', close: '`' }],
  ['\\cite{', { prefix: '', close: '}' }],
  ['\\parencite[p. 3]{one,tw', { prefix: 'tw', close: '}' }],
  ['me@home', null],
  ['\\ref{', null],
  ['{code}`', null],
  ['plain', null]
])('the key typed in %s', (before, expected) => {
  const context = keyContext(before);
  expect(context && { prefix: context.prefix, close: context.close }).toEqual(
    expected
  );
});

test.each([
  ['joins Pandoc', 'a [@one]', 8, 'a [@one; @two]'],
  ['joins MyST', 'a {cite}`one`', 13, 'a {cite}`one,two`'],
  ['joins LaTeX', 'a \\cite{one}', 10, 'a \\cite{one,two}'],
  ['has a space before', 'word', 4, 'word {cite}`two`'],
  ['uses the syntax of the text', '[@one] word', 11, '[@one] word [@two]']
])('a citation %s', (_, source, at, expected) => {
  const change = insertionOf(source, at, 'two', 'myst');
  expect(change).not.toBeNull();
  const { at: to = 0, text = '' } = change ?? {};
  expect(source.slice(0, to) + text + source.slice(to)).toBe(expected);
});

test('a key is not repeated', () => {
  expect(insertionOf('[@two]', 6, 'two', 'myst')).toBeNull();
});

test('the syntax is that of most citations', () => {
  expect(detectSyntax('\\cite{a} [@b] \\cite{c}')).toBe('latex');
  expect(detectSyntax('none, and @bare')).toBeNull();
  expect(citationText(['a', 'b'], 'pandoc')).toBe('[@a; @b]');
});
