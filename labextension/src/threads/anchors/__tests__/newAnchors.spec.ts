import { expect, test } from 'vitest';

import { cellVersion, textVersion } from '../../../wire/versions';
import { anchorOfCell, anchorOfText, trimmedSelection } from '../newAnchors';

test('the anchor of a selection in a cell quotes it with the text around it', () => {
  const text = `${'a'.repeat(100)} wanted ${'z'.repeat(100)}`;
  const place = { document: 'a.ipynb', cellId: 'c1' };
  expect(anchorOfText(place, text, { from: 101, to: 107 })).toEqual({
    document: 'a.ipynb',
    cell_id: 'c1',
    target: 'source',
    range: { from: 101, to: 107 },
    quote: 'wanted',
    prefix: `${'a'.repeat(63)} `,
    suffix: ` ${'z'.repeat(63)}`,
    version: cellVersion(text),
    certainty: 'exact',
    output: null
  });
});

test('the anchor of a file has no cell, and the version of its text', () => {
  const place = { document: 'a.py', cellId: null };
  const { cell_id, version, prefix, suffix } = anchorOfText(place, 'x = 1\n', {
    from: 0,
    to: 5
  });
  expect([cell_id, version, prefix, suffix]).toEqual([
    null,
    textVersion('x = 1\n'),
    '',
    '\n'
  ]);
});

test('of a selection that is too long the beginning is meant, and no character is cut in two', () => {
  const text = `x${'\u{1f600}'.repeat(20_000)}`;
  const place = { document: 'a.py', cellId: null };
  const made = anchorOfText(place, text, { from: 0, to: text.length });
  expect(made.range).toEqual({ from: 0, to: 20_001 });
  expect(made.quote).toBe(text.slice(0, 20_001));
  expect(made.suffix.startsWith('\u{1f600}')).toBe(true);
});

test('the anchor of a whole cell is known by its source, that of an output by the output', () => {
  const cell = anchorOfCell('a.ipynb', 'c1', 'x = 1', null);
  expect([cell.target, cell.range, cell.quote]).toEqual([
    'cell',
    null,
    'x = 1'
  ]);
  const known = { index: 1, nth: 0, alike: 1 };
  const output = anchorOfCell('a.ipynb', 'c1', 'x = 1', {
    ...{ quote: '42', output: known }
  });
  expect([output.target, output.quote, output.output]).toEqual([
    ...['output', '42', known]
  ]);
});

test.each([
  ['  two\n\n', { from: 2, to: 5 }],
  ['one two', { from: 0, to: 7 }],
  ['  \n ', null]
])('of %j the words are meant', (text, part) => {
  expect(trimmedSelection(text, { from: 0, to: text.length })).toEqual(part);
});
