import { describe, expect, it } from 'vitest';

import type { CellEdit } from '../../wire/generated';
import { conflictsOf, textChanges, type ICellView } from '../edits';

function applied(before: string, after: string): string {
  let text = before;
  for (const { from, to, insert } of textChanges(before, after).reverse()) {
    text = text.slice(0, from) + insert + text.slice(to);
  }
  return text;
}

const cell = (id: string, more: Partial<ICellView> = {}): ICellView => ({
  id,
  version: `v-${id}`,
  source: `source of ${id}`,
  editable: true,
  deletable: true,
  isCode: true,
  ...more
});

describe('textChanges', () => {
  it.each([
    ['', 'a'],
    ['a', ''],
    ['x = 1\nprint(y)\n', 'x = 1\nprint(x)\n'],
    ['abc', 'abc'],
    ['👩‍🔬 one', '👩‍🔬 two 👩‍🔬'],
    ['import a\nb\nc\nd', 'import z\nb\nc2\nd\ne']
  ])('turns %j into %j', (before, after) => {
    expect(applied(before, after)).toBe(after);
  });

  it('leaves the lines it does not change alone', () => {
    expect(textChanges('a = 1\nb = 2\nc = 3', 'a = 1\nb = 20\nc = 3')).toEqual([
      { from: 11, to: 11, insert: '0' }
    ]);
  });
});

describe('conflictsOf', () => {
  const cells = [
    cell('a'),
    cell('b', { editable: false }),
    cell('c', { deletable: false })
  ];

  it('finds nothing when every expected version stands', () => {
    expect(
      conflictsOf(cells, { a: 'v-a' }, [
        { kind: 'cell-source', cell_id: 'a', source: 'x' }
      ])
    ).toEqual([]);
  });

  it('reports a changed cell with its text', () => {
    expect(conflictsOf(cells, { a: 'old' }, [])).toEqual([
      {
        cell_id: 'a',
        current: 'source of a',
        version: 'v-a',
        reason: 'changed'
      }
    ]);
  });

  it('reports a deleted cell, a protected one and an id that exists', () => {
    expect(
      conflictsOf(cells, { z: 'v' }, [
        { kind: 'cell-source', cell_id: 'b', source: '' },
        { kind: 'cell-delete', cell_id: 'c' },
        {
          kind: 'cell-insert',
          cell_id: 'a',
          cell_type: 'code',
          source: '',
          metadata: {},
          after: null,
          outputs: [],
          execution_count: null,
          attachments: null
        }
      ]).map(({ cell_id, reason }) => [cell_id, reason])
    ).toEqual([
      ['z', 'deleted'],
      ['b', 'protected'],
      ['c', 'protected'],
      ['a', 'exists']
    ]);
  });

  it('lets a cell follow one that the same batch inserts', () => {
    const insert = (id: string, after: string | null): CellEdit => ({
      kind: 'cell-insert',
      cell_id: id,
      cell_type: 'markdown',
      source: '',
      metadata: {},
      after,
      outputs: [],
      execution_count: null,
      attachments: null
    });
    expect(
      conflictsOf(cells, {}, [insert('n', 'a'), insert('m', 'n')])
    ).toEqual([]);
    expect(conflictsOf(cells, {}, [insert('m', 'n')])).toHaveLength(1);
  });

  it('refuses outputs of a cell that is no code any more', () => {
    const outputs: CellEdit = {
      kind: 'cell-outputs',
      cell_id: 'a',
      outputs: [],
      execution_count: null
    };
    expect(conflictsOf([cell('a', { isCode: false })], {}, [outputs])).toEqual([
      {
        cell_id: 'a',
        current: 'source of a',
        version: 'v-a',
        reason: 'changed'
      }
    ]);
  });
});
