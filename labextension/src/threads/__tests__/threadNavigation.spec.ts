import { expect, test } from 'vitest';

import type { IThreadMark } from '../marks/markAppearance';
import { stepFrom, threadsAt, type ICursorPosition } from '../threadNavigation';
import { mark, location } from './fixtures';

const MARKS = [
  mark(location('cell', 1, null)),
  mark(location('first', 1, { from: 4, to: 8 })),
  mark(location('second', 1, { from: 6, to: 9 })),
  mark(location('third', 3, { from: 0, to: 5 }))
];

function step(
  number: number,
  offset: number | null,
  last: string | null,
  by: 1 | -1
): string | undefined {
  return stepFrom(MARKS, { number, offset }, last, by)?.location.sessionId;
}

test.each<[string, [number, number | null, string | null, 1 | -1], string]>([
  ['the next of the text', [1, 0, null, 1], 'first'],
  ['past an end within another', [1, 4, null, 1], 'second'],
  ['into the next cell', [2, 0, null, 1], 'third'],
  ['after the last the first', [3, 2, null, 1], 'cell'],
  ['backwards', [2, 0, null, -1], 'second'],
  ['before the first the last', [1, null, 'cell', -1], 'third'],
  ['from the one gone to', [1, 7, 'first', 1], 'second'],
  ['from the cell gone to', [1, 0, 'cell', 1], 'first'],
  ['from where the user went since', [3, 0, 'first', 1], 'cell']
])('a step goes to %s', (_, from, to) => {
  expect(step(...from)).toBe(to);
});

/** The cursor position after navigating to a thread. */
function at({ location: { number, anchor } }: IThreadMark): ICursorPosition {
  return { number, offset: anchor.range?.from ?? null };
}

test.each([1, -1] as const)('all threads are met on a walk by %i', by => {
  const met: string[] = [];
  let where: ICursorPosition = { number: 1, offset: null };
  for (const _ of MARKS) {
    const next = stepFrom(MARKS, where, met.at(-1) ?? null, by);
    expect(next).not.toBeNull();
    if (next !== null) {
      met.push(next.location.sessionId);
      where = at(next);
    }
  }
  expect(met.sort()).toEqual(['cell', 'first', 'second', 'third']);
});

test('a document without threads has no next one', () => {
  expect(stepFrom([], { number: 1, offset: 0 }, null, 1)).toBeNull();
});

test.each<[string, ICursorPosition, number | null, string[]]>([
  ['in their text', { number: 1, offset: 7 }, 1, ['first', 'second']],
  ['in their line', { number: 1, offset: 20 }, 5, ['first']],
  ['in their cell', { number: 1, offset: 20 }, 9, ['cell', 'first', 'second']],
  ['in another cell', { number: 2, offset: 7 }, 5, []]
])('the threads at the cursor are those %s', (_, where, line, ids) => {
  const found = threadsAt(MARKS, where, line);
  expect(found.map(({ location: { sessionId } }) => sessionId)).toEqual(ids);
});

test('of a file only the threads of the line are at the cursor', () => {
  const marks = [mark(location('file', null, { from: 3, to: 5 }))];
  const at = (offset: number, line: number) =>
    threadsAt(marks, { number: null, offset }, line).length;
  expect([at(4, 1), at(9, 4), at(9, 7)]).toEqual([1, 1, 0]);
});
