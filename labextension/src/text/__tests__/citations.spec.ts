/** Markers of citations: which are valid, what they name, and how a growing text hides unfinished ones. */

import { expect, test } from 'vitest';

import {
  citationAt,
  markerOf,
  withoutUnfinishedMarker,
  type ICitation
} from '../citations';

const place = (
  path: string,
  cellId: string | null = null,
  line: number | null = null
): ICitation => ({ path, cellId, line });

test.each<[string, ICitation]>([
  ['[[a.ipynb#3f2a-x_1]]', place('a.ipynb', '3f2a-x_1')],
  ['[[data/load data.ipynb#c1]]', place('data/load data.ipynb', 'c1')],
  ['[[a.ipynb]]', place('a.ipynb')],
  ['[[src/__init__.py:12]]', place('src/__init__.py', null, 12)],
  ['[[Makefile:3]]', place('Makefile', null, 3)],
  ['[[données (1).csv]]', place('données (1).csv')],
  ['[[c#/main.cs:1]]', place('c#/main.cs', null, 1)]
])('%s is a place', (marker, citation) => {
  expect(citationAt(`${marker} and more`)).toEqual({ raw: marker, citation });
  expect(markerOf(citation)).toBe(marker);
});

test.each([
  ['a scheme', '[[javascript:alert(1)]]'],
  ['a scheme with a file', '[[https://evil.example/a.py]]'],
  ['a drive', '[[C:/a.py:1]]'],
  ['an attribute', '[[a"onmouseover=x]]'],
  ['markup', '[[<img src=x>]]'],
  ['an absolute path', '[[/etc/passwd.txt]]'],
  ['another host', '[[//evil.example/a.py]]'],
  ['a step out', '[[../a.py]]'],
  ['a step out later', '[[b/../../a.py:3]]'],
  ['a backslash', '[[..\\a.py]]'],
  ['hidden characters', '[[a\u202eyp.py]]'],
  ['a line break', '[[a\n.py]]'],
  ['spaces at its ends', '[[ a.py ]]'],
  ['numbers', '[[0.1, 0.2]]'],
  ['a slice', '[[1:2]]'],
  ['a table', '[[1, 2], [3, 4]]'],
  ['a wiki page', '[[Data Science]]'],
  ['nothing', '[[]]'],
  ['line zero', '[[:0]]'],
  ['one bracket', '[a.py]'],
  ['no end', '[[a.py]'],
  ['too long', `[[${'a'.repeat(400)}.py]]`]
])('a marker with %s is none', (_, text) => {
  expect(citationAt(text)).toBeNull();
});

test.each([
  ['See [', 'See '],
  ['See [[', 'See '],
  ['See [[a.ipynb#c', 'See '],
  ['See [[a.py]', 'See '],
  ['See [[a.py]]', 'See [[a.py]]'],
  ['See [[a.py]].', 'See [[a.py]].'],
  ['if [[ -f x', 'if [[ -f x'],
  ['See [[a\n', 'See [[a\n'],
  ['See [[1], 2', 'See [[1], 2'],
  ['See [a](', 'See [a]('],
  ['[[a.py]] [[b', '[[a.py]] ']
])('%j is shown as %j', (text, shown) => {
  expect(withoutUnfinishedMarker(text)).toBe(shown);
});

test('a long text that is no marker is shown', () => {
  const text = `[[${'a'.repeat(300)}`;
  expect(withoutUnfinishedMarker(text)).toBe(text);
});

test('what is shown of a growing text never shrinks', () => {
  const text = `x [[[a [b](c) [[a[b[[c.py]] [[1, [2]] ]] [[${'d'.repeat(310)}`;
  let shown = '';
  for (let length = 1; length <= text.length; length++) {
    const next = withoutUnfinishedMarker(text.slice(0, length));
    expect(next.startsWith(shown)).toBe(true);
    shown = next;
  }
});
