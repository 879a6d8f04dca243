import type { ISharedCodeCell } from '@jupyter/ydoc';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { OpenNotebook } from '../openNotebook';
import { open, type FakeContext } from '../../__tests__/fakeLab';

const text = (value: string) => ({
  output_type: 'stream',
  name: 'stdout',
  text: value
});

let lab: FakeContext;
let notebook: OpenNotebook;

beforeEach(() => {
  lab = open({ id: 'a', source: 'run', outputs: ['old'], count: 3 });
  notebook = new OpenNotebook(lab.context);
});
afterEach(() => lab.dispose());

function shown(): unknown {
  const shared = lab.cell('a') as unknown as {
    execution_count: number | null;
    executionState: string;
  };
  return [lab.outputs('a'), shared.execution_count, shared.executionState];
}

describe('AgentRuns', () => {
  it('shows a run from its start to its end', () => {
    notebook.runs.started('r', 'a');
    expect(shown()).toEqual([[], null, 'running']);
    notebook.runs.output('r', 'a', 0, [text('one')]);
    notebook.runs.output('r', 'a', 0, [text('one two')]);
    notebook.runs.ended('r', 'a', 4);
    expect(shown()).toEqual([['one two'], 4, 'idle']);
  });

  it('continues in the new widget of a cell that is moved', () => {
    lab.dispose();
    lab = open({ id: 'a', source: 'run' }, { id: 'b', source: '' });
    notebook = new OpenNotebook(lab.context);
    notebook.runs.started('r', 'a');
    notebook.runs.output('r', 'a', 0, [text('one')]);
    lab.model.sharedModel.moveCell(0, 1);
    notebook.runs.output('r', 'a', 0, [text('one two')]);
    expect(shown()).toEqual([['one'], null, 'running']); // Later outputs follow at the page's pace.
    lab.model.sharedModel.moveCell(1, 0);
    notebook.runs.ended('r', 'a', 4);
    expect(shown()).toEqual([['one two'], 4, 'idle']);
  });

  it('replaces what stood there when the run printed nothing', () => {
    notebook.runs.started('r', 'a');
    notebook.runs.ended('r', 'a', 4);
    expect(shown()).toEqual([[], 4, 'idle']);
  });

  it('leaves the cell to the user who runs it again', () => {
    notebook.runs.started('r', 'a');
    expect(notebook.runs.handOver('a')).toBe('r');
    lab.print('a', 'mine');
    notebook.runs.output('r', 'a', 0, [text('late')]);
    notebook.runs.started('r', 'a');
    notebook.runs.ended('r', 'a', 4);
    expect(lab.outputs('a')).toEqual(['mine']);
    expect(notebook.runs.handOver('a')).toBeNull();
  });

  it('leaves what it shows to the room that shows it', () => {
    notebook.runs.joined('r', 'a');
    notebook.runs.output('r', 'a', 0, [text('twice')]);
    expect(lab.outputs('a')).toEqual(['old']);
    expect(notebook.runs.handOver('a')).toBe('r');
    notebook.runs.joined('r', 'a');
    notebook.runs.ended('r', 'a', 4);
    expect(shown()).toEqual([['old'], 3, 'idle']);
  });

  it('trusts what runs in a room, not what stood there before', () => {
    const { cells } = lab.context.model;
    notebook.runs.joined('r', 'a');
    expect(cells.get(0).trusted).toBe(false);
    const shared = lab.cell('a') as unknown as ISharedCodeCell;
    shared.setOutputs([]);
    expect(cells.get(0).trusted).toBe(true);
    shared.updateOutputs(0, 0, [text('new')]);
    expect(lab.outputs('a')).toEqual(['new']);
  });

  it.each([
    ['before its cell arrives', true],
    ['and ended before its cell arrives', false]
  ])('trusts what runs in a room, announced %s', (_, isRunning) => {
    notebook.runs.joined('r', 'new');
    if (!isRunning) {
      notebook.runs.ended('r', 'new', 1);
    }
    lab.model.sharedModel.addCell({ cell_type: 'code', id: 'new' });
    expect(lab.context.model.cells.get(1).trusted).toBe(true);
    expect(notebook.runs.handOver('new')).toBe(isRunning ? 'r' : null);
  });

  it.each([
    ['trusts what a room clears after the end of the run', [], true],
    [
      'does not trust what a room never cleared',
      [{ ...text('new'), name: 'stderr' }],
      false
    ]
  ])('%s', (_, outputs, trusted) => {
    const shared = lab.cell('a') as unknown as ISharedCodeCell;
    notebook.runs.joined('r', 'a');
    notebook.runs.ended('r', 'a', 4);
    shared.setOutputs(outputs);
    expect(lab.context.model.cells.get(0).trusted).toBe(trusted);
    shared.setOutputs([]);
    expect(lab.context.model.cells.get(0).trusted).toBe(trusted);
  });

  it('ends a run that a new server does not know', () => {
    notebook.runs.started('r', 'a');
    notebook.runs.output('r', 'a', 0, [text('so far')]);
    notebook.runs.markDoubtful();
    notebook.runs.endDoubtful();
    expect(shown()).toEqual([['so far'], null, 'idle']);
  });

  it('continues a run that the server reports again', () => {
    notebook.runs.started('r', 'a');
    notebook.runs.output('r', 'a', 0, [text('one')]);
    notebook.runs.markDoubtful();
    notebook.runs.started('r', 'a');
    notebook.runs.output('r', 'a', 0, [text('one'), text(' two')]);
    notebook.runs.endDoubtful();
    notebook.runs.ended('r', 'a', 4);
    expect(shown()).toEqual([['one two'], 4, 'idle']);
  });

  it('does not mind cells that are gone', () => {
    notebook.runs.started('r', 'gone');
    notebook.runs.output('r', 'gone', 0, [text('x')]);
    notebook.runs.ended('r', 'gone', 1);
    notebook.runs.started('s', 'a');
    lab.model.sharedModel.deleteCell(0);
    notebook.runs.ended('s', 'a', 1);
    expect(notebook.runs.handOver('a')).toBeNull();
  });
});
