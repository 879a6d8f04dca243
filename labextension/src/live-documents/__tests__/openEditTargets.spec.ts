import type { NotebookPanel } from '@jupyterlab/notebook';
import { describe, expect, test } from 'vitest';

import { open, type FakeContext } from './fakeLab';
import { CellTarget } from '../openEditTargets';

/** A panel without a view. */
function panelOf(context: FakeContext): NotebookPanel {
  return {
    context,
    isDisposed: false,
    content: {
      widgets: [],
      activeCellIndex: 0,
      deselectAll: () => undefined,
      scrollToItem: () => Promise.resolve()
    }
  } as unknown as NotebookPanel;
}

function target(
  metadata: Record<string, unknown> = {}
): [CellTarget, FakeContext] {
  const context = open(
    { id: 'a', source: 'x = 1\ny = 2', metadata },
    { id: 'b', source: '# Text', type: 'markdown' }
  );
  return [new CellTarget(panelOf(context), 'a', null), context];
}

describe('a cell as the place of an edit', () => {
  test('is written as one undo step, separate from typed text', () => {
    const [cell, context] = target();
    context.type('a', ' # mine');
    cell.write('x = 10\ny = 2 # mine');
    context.type('a', '!');
    const shared = context.cell('a');
    shared.undo();
    expect(cell.text()).toBe('x = 10\ny = 2 # mine');
    shared.undo();
    expect(cell.text()).toBe('x = 1\ny = 2 # mine');
    shared.undo();
    expect(cell.text()).toBe('x = 1\ny = 2');
    expect(context.model.dirty).toBe(true);
  });

  test('gets a new cell below it as one step of the notebook', () => {
    const [cell, context] = target();
    expect(cell.insertBelow('z = 3', false)).toBe(true);
    expect(context.sources.map(([, source]) => source)).toEqual([
      'x = 1\ny = 2',
      'z = 3',
      '# Text'
    ]);
    context.model.sharedModel.undo();
    expect(context.sources.length).toBe(2);
    expect(cell.insertBelow('*z*', true)).toBe(true);
    expect(context.model.sharedModel.cells[1]?.cell_type).toBe('markdown');
  });

  test('says where it is, what it is and what surrounds it', () => {
    const [cell, context] = target();
    expect([cell.number, cell.isProse, cell.path]).toEqual([
      1,
      false,
      'a.ipynb'
    ]);
    expect(cell.surroundings()).toEqual([
      { kind: 'cell', path: 'a.ipynb', cell_id: 'a' },
      { kind: 'file', path: 'a.ipynb' }
    ]);
    context.model.sharedModel.moveCell(0, 1);
    expect(cell.number).toBe(2);
  });

  test('refuses where it is locked, the notebook is read-only, or it is gone', () => {
    expect(target()[0].refusal()).toBeNull();
    expect(target({ editable: false })[0].refusal()).toBe('read-only-cell');
    const [unwritable, context] = target();
    context.contentsModel = { ...context.contentsModel, writable: false };
    expect(unwritable.refusal()).toBe('read-only-document');
    const [gone, other] = target();
    other.model.sharedModel.deleteCell(0);
    expect([gone.refusal(), gone.text(), gone.number]).toEqual([
      'gone',
      null,
      null
    ]);
    expect(gone.insertBelow('z', false)).toBe(false);
  });

  test('tells of its text and its place, not of outputs', () => {
    const [cell, context] = target();
    let told = 0;
    cell.changed.connect(() => (told += 1));
    context.print('a', 'one');
    const before = told;
    context.print('a', 'two');
    expect(told).toBe(before);
    context.type('a', '!');
    expect(told).toBe(before + 1);
    cell.dispose();
    context.type('a', '!');
    expect(told).toBe(before + 1);
  });
});
