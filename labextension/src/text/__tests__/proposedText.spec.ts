import { describe, expect, test } from 'vitest';

import {
  changeSizeOf,
  mergeProposal,
  movedPart,
  partialReplacement,
  wholeLines,
  withReplacement
} from '../proposedText';

describe('a part of a text', () => {
  test('is replaced, and keeps the line breaks at its end', () => {
    expect(withReplacement('a\nb\nc', { from: 2, to: 4 }, 'B\nB2')).toBe(
      'a\nB\nB2\nc'
    );
    expect(withReplacement('a\n\n', { from: 0, to: 3 }, 'b\n')).toBe('b\n\n');
    expect(withReplacement('x = 1 + 1', { from: 4, to: 9 }, '2')).toBe('x = 2');
  });

  test('is taken in whole lines when it has more than one', () => {
    const text = 'one\n  two\nthree\n';
    expect(wholeLines(text, { from: 4, to: 7 })).toEqual({ from: 4, to: 7 });
    expect(wholeLines(text, { from: 6, to: 12 })).toEqual({ from: 4, to: 15 });
    expect(wholeLines(text, { from: 1, to: 10 })).toEqual({ from: 0, to: 10 });
    expect(wholeLines('a\nb', { from: 0, to: 3 })).toEqual({ from: 0, to: 3 });
  });

  test('is where it was when the text around it changes, and nowhere once it is changed', () => {
    const text = 'one\ntwo\nthree';
    const part = { from: 4, to: 7 };
    expect(movedPart(part, text, text)).toEqual(part);
    expect(movedPart(part, text, `zero\n${text}!`)).toEqual({
      from: 9,
      to: 12
    });
    expect(movedPart(part, text, 'one\ntwice\nthree')).toBeNull();
  });
});

describe('an answer that is still being written', () => {
  const old = 'a\nb\nc\nd';
  const table: [string, string, string][] = [
    ['nothing yet', 'a', old],
    ['what is the same', 'a\nb\n', old],
    ['a changed line', 'a\nB\n', 'a\nB\nc\nd'],
    ['a new line that looks like a change', 'a\nnew\n', 'a\nnew\nc\nd'],
    ['the line after it', 'a\nnew\nb\n', 'a\nnew\nb\nc\nd'],
    ['more than there was', 'a\nb\nc\nd\ne\n', 'a\nb\nc\nd\ne'],
    ['a line that says little, further on', 'a\nd\n', 'a\nd\nc\nd']
  ];
  test.each(table)('shows the rest as it was after %s', (_, text, expected) => {
    expect(partialReplacement(old, text)).toBe(expected);
  });

  test('shows all of it when nothing was there', () => {
    expect(partialReplacement('', 'a\nb\n')).toBe('a\nb');
  });

  test('knows a line again that stood further on', () => {
    expect(partialReplacement('one\ntwo\nthree\nfour', 'one\nthree\n')).toBe(
      'one\nthree\nfour'
    );
  });
});

describe('text that the user typed after the proposal', () => {
  const proposal = { base: 'a\nb\nc', proposed: 'a\nB\nc' };

  test('stays beside the change', () => {
    expect(mergeProposal(proposal, 'a\nb\nc\nmine')).toBe('a\nB\nc\nmine');
    expect(mergeProposal(proposal, 'a\nB\nc')).toBe('a\nB\nc');
  });

  test('clashes in the same lines', () => {
    expect(mergeProposal(proposal, 'a\nmine\nc')).toBeNull();
  });
});

test('the extent of a change is counted in lines', () => {
  expect(changeSizeOf('a\nb', 'a\nB\nc')).toEqual({ added: 2, removed: 1 });
  expect(changeSizeOf('a', 'a')).toEqual({ added: 0, removed: 0 });
});
