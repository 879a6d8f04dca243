import type { ICell, INotebookContent } from '@jupyterlab/nbformat';
import { describe, expect, it } from 'vitest';

import { assignCellIds } from '../cellIds';
import { fileBaselineOf, type FileBaseline } from '../fileBaseline';

function base(...sources: string[]): FileBaseline {
  return fileBaselineOf(
    sources.map((source, at) => ({
      cell_id: `id-${at}`,
      cell_type: 'code',
      source,
      metadata: {},
      attachments: null
    }))
  );
}

function content(...cells: Partial<ICell>[]): INotebookContent {
  return {
    cells: cells.map(cell => ({ cell_type: 'code', metadata: {}, ...cell })),
    metadata: {},
    nbformat: 4,
    nbformat_minor: 4
  } as unknown as INotebookContent;
}

function sources(...texts: string[]): INotebookContent {
  return content(...texts.map(source => ({ source })));
}

function ids(known: FileBaseline, file: INotebookContent): unknown[] {
  return assignCellIds(file, known).cells.map(cell => cell.id);
}

const fresh = expect.stringMatching(/^[0-9a-f]{8}$/) as unknown;

describe('identified', () => {
  it('leaves a file alone whose cells have ids', () => {
    const file = content({ id: 'x', source: 'a' });
    expect(assignCellIds(file, base('a'))).toBe(file);
  });

  it.each([
    ['as they were', ['a', 'b', 'c'], ['id-0', 'id-1', 'id-2']],
    ['one changed', ['a', 'B', 'c'], ['id-0', 'id-1', 'id-2']],
    ['all changed', ['A', 'B', 'C'], ['id-0', 'id-1', 'id-2']],
    ['one more', ['a', 'new', 'b', 'c'], ['id-0', fresh, 'id-1', 'id-2']],
    ['one less', ['a', 'c'], ['id-0', 'id-2']],
    [
      'first changed, one more',
      ['A', 'b', 'x', 'c'],
      ['id-0', 'id-1', fresh, 'id-2']
    ],
    ['none', [], []]
  ])('knows cells: %s', (_, texts, expected) => {
    expect(ids(base('a', 'b', 'c'), sources(...texts))).toEqual(expected);
  });

  it('tells equal cells by their order', () => {
    expect(ids(base('', 'x', ''), sources('', 'x', '', 'y'))).toEqual([
      'id-0',
      'id-1',
      'id-2',
      fresh
    ]);
  });

  it('reads lines as one text, and knows the type', () => {
    const file = content(
      { source: ['a\n', 'b'] },
      { source: 'c', cell_type: 'markdown' }
    );
    expect(ids(base('a\nb', 'c', 'd'), file)).toEqual(['id-0', fresh]);
  });

  it('does not compare thousands of cells with thousands', () => {
    const many = [...Array(2000).keys()].map(at => `cell ${at}`);
    const others = many.map(text => `other ${text}`);
    const known = ids(base(...many), sources(...others, 'last'));
    expect(known).toEqual(Array(2001).fill(fresh));
  });
});
