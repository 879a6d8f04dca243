/** How the agent's changes and the user's typing beside them change the baseline. */

import { ChangeSet, type Text } from '@codemirror/state';
import { describe, expect, it } from 'vitest';

import {
  adoptBaseline,
  baselineOf,
  chunkAt,
  withFinalNewline,
  keepChange,
  rebaseBaseline,
  compareWithBaseline,
  textOf,
  undoChange,
  type ITextReview
} from '../textReview';

function reviewOf(baseline: string, current: string): ITextReview {
  return compareWithBaseline(
    withFinalNewline(textOf(baseline)),
    withFinalNewline(textOf(current))
  );
}

function text(value: Text): string {
  return value.sliceString(0, value.length - 1);
}

function applied(
  current: string,
  changes: { from: number; to: number; insert: string }[]
): string {
  const before = textOf(current);
  return ChangeSet.of(changes, before.length).apply(before).toString();
}

/** Texts before and after a change of the agent, with the number of changes. */
const PAIRS: [name: string, before: string, after: string, count: number][] = [
  ['a line appended at the end', 'a', 'a\nb', 1],
  ['lines removed at the end', 'a\nb\nc', 'a', 1],
  ['the first line removed', 'a\nb', 'b', 1],
  ['a line put before', 'b', 'a\nb', 1],
  ['a line changed', 'a\nb\nc', 'a\nB\nc', 1],
  ['two places', 'a\nb\nc\nd\ne', 'A\nb\nc\nd\nE', 2],
  ['the empty text filled', '', 'x\ny', 1],
  ['all removed', 'x\ny', '', 1],
  ['a last newline added', 'a', 'a\n', 1],
  ['a last newline removed', 'a\n', 'a', 1],
  ['an empty line between two changes', 'a\n\nc', 'b\n\nd', 2],
  ['all but the last line removed', 'a\nb\nc', 'c', 1]
];

describe('a review', () => {
  it.each(PAIRS)('counts %s', (_name, before, after, count) => {
    expect(reviewOf(before, after).chunks).toHaveLength(count);
  });

  it.each(PAIRS)(
    'gives the old text back when all of it is undone: %s',
    (_, before, after) => {
      const value = reviewOf(before, after);
      const changes = value.chunks.map(chunk =>
        undoChange(value, chunk, after.length)
      );
      expect(applied(after, changes)).toBe(before);
    }
  );

  it.each(PAIRS)(
    'has nothing left once all of it is kept: %s',
    (_, before, after) => {
      let value = reviewOf(before, after);
      const current = withFinalNewline(textOf(after));
      for (
        let [chunk] = value.chunks;
        chunk !== undefined;
        [chunk] = value.chunks
      ) {
        value = compareWithBaseline(keepChange(value, chunk, current), current);
      }
      expect(baselineOf(value)).toBe(after);
    }
  );

  it('undoes one of two changes and leaves the other', () => {
    const after = 'A\nb\nc\nd\nE';
    const value = reviewOf('a\nb\nc\nd\ne', after);
    const last = value.chunks
      .slice(1)
      .map(chunk => undoChange(value, chunk, after.length));
    expect(applied(after, last)).toBe('A\nb\nc\nd\ne');
  });

  it('keeps one of two changes and leaves the other', () => {
    const after = 'A\nb\nc\nd\nE';
    const value = reviewOf('a\nb\nc\nd\ne', after);
    const first = value.chunks
      .slice(0, 1)
      .map(chunk =>
        text(keepChange(value, chunk, withFinalNewline(textOf(after))))
      );
    expect(first).toEqual(['A\nb\nc\nd\ne']);
  });

  it('finds the change around a position, also past the end of the text', () => {
    const value = reviewOf('a\nb\nc\nd', 'A\nb\nc');
    const [first, last] = value.chunks;
    expect(chunkAt(value, 1, 5)).toBe(first);
    expect(chunkAt(value, 2, 5)).toBeUndefined();
    expect(chunkAt(value, 5, 5)).toBe(last);
  });
});

/** A user's edit of the agent's text: `from`, `to`, `insert`; then the new baseline. */
const TYPED: [
  name: string,
  before: string,
  after: string,
  change: [number, number, string],
  baseline: string
][] = [
  ['a line above', 'a\nb', 'a\nB', [0, 0, 'x\n'], 'x\na\nb'],
  ['in a line above', 'a\nb', 'a\nB', [1, 1, '!'], 'a!\nb'],
  ['in a line below', 'a\nb', 'A\nb', [3, 3, '!'], 'a\nb!'],
  ['below an added line', 'a\nb', 'a\nnew\nb', [7, 7, '!'], 'a\nb!'],
  ['inside the changed line', 'a\nb\nc', 'a\nBB\nc', [3, 3, '!'], 'a\nB!B\nc'],
  ['Enter at the end of it', 'a\nb\nc', 'a\nB\nc', [3, 3, '\n'], 'a\nb\n\nc'],
  ['Enter at the end of all', 'a', 'a\nb', [3, 3, '\nx'], 'a\nx'],
  ['a line before it', 'a\nb', 'a\nB', [2, 2, 'x\n'], 'a\nx\nb'],
  ['after a removed line', 'a\nb\nc', 'a\nc', [2, 2, 'x'], 'a\nb\nxc'],
  ['before a removed line', 'a\nb\nc', 'a\nc', [1, 1, 'x'], 'ax\nb\nc'],
  ['the removed line again', 'a\nb\nc', 'a\nc', [2, 2, 'b\n'], 'a\nb\nc'],
  ['the removed last line', 'a\nb', 'a', [1, 1, '\nb'], 'a\nb'],
  ['the line before it away', 'a\nb\nc', 'a\nb\nC', [2, 4, ''], 'a\nc'],
  ['two lines joined into it', 'a\nb\nc', 'a\nB\nc', [1, 2, ''], 'aB\nc'],
  ['the whole of it away', 'a\nb\nc', 'a\nB\nc', [2, 4, ''], 'a\nb\nc'],
  ['all formatted', 'a=1\nb', 'a=1\nB', [0, 5, 'a = 1\nB'], 'a = 1\nb']
];

describe('text of the user', () => {
  it.each(TYPED)(
    'is theirs: %s',
    (_, before, after, [from, to, insert], baseline) => {
      const changes = ChangeSet.of({ from, to, insert }, after.length);
      const value = reviewOf(before, after);
      expect(
        text(rebaseBaseline(value, changes, withFinalNewline(textOf(after))))
      ).toBe(baseline);
    }
  );

  it('is theirs in several places at once', () => {
    const after = 'a\nB\nc';
    const changes = ChangeSet.of(
      [
        { from: 1, insert: '1' },
        { from: 3, insert: '2' },
        { from: 5, insert: '3' }
      ],
      after.length
    );
    const value = reviewOf('a\nb\nc', after);
    expect(
      text(rebaseBaseline(value, changes, withFinalNewline(textOf(after))))
    ).toBe('a1\nB2\nc3');
  });

  it('outlives the undoing of every change beside it, whatever was typed where', () => {
    const before = 'one\ntwo\nthree\nfour';
    const after = 'one\nTWO\nthree\nfour\nfive';
    for (const position of [0, 1, 3, 8, 9, 10, 12, 13]) {
      const changes = ChangeSet.of(
        { from: position, insert: '#' },
        after.length
      );
      const typed = changes.apply(textOf(after)).toString();
      const value = reviewOf(before, after);
      const next = compareWithBaseline(
        rebaseBaseline(value, changes, withFinalNewline(textOf(after))),
        withFinalNewline(textOf(typed))
      );
      const back = next.chunks.map(chunk =>
        undoChange(next, chunk, typed.length)
      );
      expect(applied(typed, back)).toContain('#');
    }
  });
});

describe('a baseline of the server', () => {
  it('is taken as it is for the text it was made for', () => {
    expect(adoptBaseline('a\nB', 'a\nB', 'a\nb')).toBe('a\nb');
  });

  it('gets what the user wrote since', () => {
    expect(adoptBaseline('x\na\nb\nC', 'a\nb\nC', 'a\nb\nc')).toBe(
      'x\na\nb\nc'
    );
  });

  it('has the lines of the agent that the user changed since', () => {
    expect(adoptBaseline('a\nB!', 'a\nB', 'a\nb')).toBe('a\nB!');
  });

  it('has what was typed where the agent’s change did not come', () => {
    expect(adoptBaseline('a = 1\nmine', 'a = 700', 'a = 1')).toBe(
      'a = 1\nmine'
    );
  });
});
