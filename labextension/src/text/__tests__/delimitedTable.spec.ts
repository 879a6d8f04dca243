import { expect, test } from 'vitest';

import { readTable } from '../delimitedTable';

test.each([
  ['a,b\n1,2\n', ',', ['a', 'b'], [['1', '2']]],
  ['a,b\r\n1,2', ',', ['a', 'b'], [['1', '2']]],
  ['\ufeffa\tb\n1,5\t2', '\t', ['a', 'b'], [['1,5', '2']]],
  ['a,b\n"x, ""y""\nz",', ',', ['a', 'b'], [['x, "y"\nz', '']]],
  ['a,b\n,\n"open', ',', ['a', 'b'], [['', ''], ['open']]]
] as const)('%j is a table', (text, separator, header, rows) => {
  expect(readTable(text, separator)).toEqual({ header, rows, more: false });
});

test.each(['', 'just a line', 'one\ntwo\n'])('%j is none', text => {
  expect(readTable(text, ',')).toBeNull();
});

test('a long or wide table is cut', () => {
  const long = readTable('a,b\n'.repeat(30), ',');
  expect(long?.rows).toHaveLength(20);
  expect(long?.more).toBe(true);
  const wide = readTable(`${'x,'.repeat(30)}x\n`, ',');
  expect(wide?.header).toHaveLength(20);
  expect(wide?.more).toBe(true);
});
