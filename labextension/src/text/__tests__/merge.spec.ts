import { describe, expect, it } from 'vitest';

import { mergePreferring, mergeText, mergeWords } from '../merge';

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

describe('mergeWords', () => {
  it.each([
    ['words apart', 'a = 1', 'a = 1  # mine', 'a = 7', 'a = 7  # mine'],
    ['words in two lines', 'a b\nc d', 'A b\nC d', 'a B\nc D', 'A B\nC D'],
    ['signs of two units', 'a 😀 b', 'a 😀 c', 'd 😀 b', 'd 😀 c']
  ])('takes up %s', (_, base, mine, theirs, both) => {
    expect(mergeText(base, mine, theirs)).toBeNull();
    expect(mergeWords(base, mine, theirs)).toBe(both);
    expect(mergeWords(base, theirs, mine)).toBe(both);
  });

  it.each([
    ['a word that continues', 'a = 1', 'a = 10', 'a = 7'],
    ['lines that come and change', 'a b', 'a c\nmine', 'd b']
  ])('leaves %s to people', (_, base, mine, theirs) => {
    expect(mergeWords(base, mine, theirs)).toBeNull();
  });
});

describe('mergePreferring', () => {
  it('replaces only the lines that both changed', () => {
    expect(mergePreferring('a\nb\nc', 'A\nb\nm', 'a\nb\nt\nu')).toBe(
      'A\nb\nt\nu'
    );
  });
});
