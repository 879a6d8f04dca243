import { YCodeCell, YNotebook } from '@jupyter/ydoc';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { cellVersion } from '../../../wire/versions';
import { ExecutionHistory } from '../executionHistory';

let notebook: YNotebook;
let cell: YCodeCell;
let executed: ExecutionHistory;

beforeEach(() => {
  notebook = new YNotebook();
  const added = notebook.addCell({ cell_type: 'code', source: 'x = 1' });
  if (!(added instanceof YCodeCell)) {
    throw new Error('no code cell');
  }
  cell = added;
  executed = new ExecutionHistory();
});

afterEach(() => notebook.dispose());

function run(count: number): void {
  executed.scheduled(cell.id, cell.getSource());
  cell.execution_count = count;
  executed.ended(cell.id, count);
}

function versionNow(): string | null {
  return executed.versionOf(cell.id, cell.execution_count);
}

test('a run belongs to the text that was sent, despite later typing', () => {
  run(3);
  cell.setSource('x = 2');
  expect(versionNow()).toBe(cellVersion('x = 1'));
});

test('nothing is known of an unfinished run, or of another count', () => {
  expect(versionNow()).toBeNull();
  executed.scheduled(cell.id, 'x = 1');
  expect(versionNow()).toBeNull();
  run(3);
  cell.execution_count = 4; // The agent ran it.
  expect(versionNow()).toBeNull();
});

test('a restart makes all runs unknown', () => {
  run(3);
  executed.restarted();
  expect(versionNow()).toBeNull();
  expect(executed.restarts).toBe(1);
});
