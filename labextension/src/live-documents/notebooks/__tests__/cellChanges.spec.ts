import { expect, test } from 'vitest';

import { listVersion } from '../../../wire/versions';
import { cellChanges } from '../cellChanges';

interface ICell {
  id: string;
  version: string;
}

/** Cells by letters; a capital letter has another version. */
function cellsOf(text: string): ICell[] {
  return Array.from(text, version => ({ id: version.toLowerCase(), version }));
}

const isSame = (one: ICell, other: ICell): boolean =>
  one.version === other.version;

test.each([
  ['abc', 'abc', 3, 0, '', ''],
  ['abc', 'aBc', 3, 0, '', 'B'],
  ['abc', 'abxc', 2, 0, 'x', 'x'],
  ['abc', 'ac', 1, 1, '', ''],
  ['abcd', 'adbc', 1, 3, 'dbc', ''],
  ['aaa', 'abc', null, 0, '', 'abc'],
  ['abc', 'aba', null, 0, '', 'aba'],
  [null, 'ab', null, 0, '', 'ab'],
  ['ab', '', 0, 2, '', '']
])('from %s to %s', (before, after, start, removed, ids, changed) => {
  const now = cellsOf(after);
  expect(
    cellChanges(before === null ? null : cellsOf(before), now, isSame)
  ).toEqual({
    order:
      start === null
        ? null
        : {
            start,
            removed,
            ids: Array.from(ids),
            list_version: listVersion(now)
          },
    cells: cellsOf(changed)
  });
});
