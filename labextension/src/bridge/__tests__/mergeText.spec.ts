import { describe, expect, it } from 'vitest';

import { mergeText } from '../mergeText';

describe('mergeText', () => {
  it.each([
    ['nothing', 'a\nb', 'a\nb', 'a\nb', 'a\nb'],
    ['one side', 'a\nb', 'a\nb', 'a\nB', 'a\nB'],
    ['the other side', 'a\nb', 'A\nb', 'a\nb', 'A\nb'],
    ['lines apart', 'a\nb\nc', 'A\nb\nc', 'a\nb\nC', 'A\nb\nC'],
    ['lines beside each other', 'a\nb', 'A\nb', 'a\nB', 'A\nB'],
    ['a new last line', 'a\nb', 'A\nb', 'a\nb\nc', 'A\nb\nc'],
    ['a new first line', 'a\nb', 'a\nB', 'z\na\nb', 'z\na\nB'],
    ['a line gone', 'a\nb\nc', 'a\nc', 'a\nb\nC', 'a\nC'],
    ['the same twice', 'a\nb\nc', 'A\nb\nc', 'A\nb\nC', 'A\nb\nC'],
    ['the same twice, and more beside it', 'a\nb', 'A\nb', 'A\nB', 'A\nB'],
    ['an empty line at the end', 'a\n', 'A\n', 'a\n\n', 'A\n\n']
  ])('takes up %s', (_, base, mine, theirs, both) => {
    expect(mergeText(base, mine, theirs)).toBe(both);
    expect(mergeText(base, theirs, mine)).toBe(both);
  });

  it.each([
    ['one line', 'a', 'ab', 'ac'],
    ['a line gone and changed', 'a\nb', 'a', 'a\nB'],
    ['two new lines in one place', 'a', 'a\nb', 'a\nc'],
    ['all of it', '', 'mine', 'theirs']
  ])('leaves %s to people', (_, base, mine, theirs) => {
    expect(mergeText(base, mine, theirs)).toBeNull();
    expect(mergeText(base, theirs, mine)).toBeNull();
  });
});
