import { expect, test } from 'vitest';

import { remainingPart } from '../textAlignment';

test.each([
  ['rows.plot(rows)', 'table.plot(table)', 'rows = 1\nrows.plot(rows)\nrows'],
  ['plot(rows)', 'plot(table)', 'rows = 1\nrows.plot(rows)\nrows'],
  ['load()', 'load()', 'rows = load()\nrows'],
  ['rows', null, 'rows = 1\nprint(2)']
])('of %j is left %j where each word is another', (part, left, before) => {
  const from = before.indexOf(part);
  const after = before.replaceAll('rows', 'table');
  const range = remainingPart(before, after, { from, to: from + part.length });
  expect(range && after.slice(range.from, range.to)).toBe(left);
});

test('what was written beside a part is no part of it', () => {
  const before = 'a = one(two)\nb = 3';
  const after = 'a = zero + one(too)\nb = 3';
  const from = before.indexOf('one');
  const range = remainingPart(before, after, { from, to: from + 8 });
  expect(range && after.slice(range.from, range.to)).toBe('one(too)');
});
