import { describe, expect, test } from 'vitest';

import { diffWords } from '../diff';

describe('a difference by word', () => {
  const marked = (before: string, after: string): string[] =>
    diffWords(before, after).map(({ kind, text, words }) => {
      const parts = words.map(({ from, to }) => text.slice(from, to));
      return `${kind}:${text}${parts.map(part => `|${part}`).join('')}`;
    });

  test('marks the words that took the place of others', () => {
    expect(marked('a = load(1)\nb = 2', 'a = read(1)\nb = 2')).toEqual([
      'old:a = load(1)|load',
      'new:a = read(1)|read',
      'same:b = 2'
    ]);
  });

  test('marks each line of several for itself', () => {
    expect(marked('one = 1\ntwo = 2', 'one = 11\ntwo = 22')).toEqual([
      'old:one = 1|1',
      'old:two = 2|2',
      'new:one = 11|11',
      'new:two = 22|22'
    ]);
  });

  test('marks whole words', () => {
    expect(marked('f(numeric=True)', 'f(numerical=True, deep=1)')).toEqual([
      'old:f(numeric=True)|numeric',
      'new:f(numerical=True, deep=1)|numerical|, deep=1'
    ]);
  });

  test('marks only a part of a long text without spaces', () => {
    const data = 'x'.repeat(1000);
    const [old] = diffWords(`${data}1`, `${data}2`);
    expect(old?.words).toEqual([{ from: 800, to: 1001 }]);
  });

  test('marks nothing in lines that are new or gone as a whole', () => {
    expect(marked('a\n', 'a\nb\n')).toEqual(['same:a', 'new:b', 'same:']);
    expect(marked('a\nb', 'a')).toEqual(['same:a', 'old:b']);
  });
});
