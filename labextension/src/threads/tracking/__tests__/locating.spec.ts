import { YFile, YNotebook } from '@jupyter/ydoc';
import { expect, it } from 'vitest';

import { remember } from '../../anchors/anchors';
import type { Anchor } from '../../../wire/generated';
import { ThreadTracker } from '../tracker';

function anchorOf(cell_id: string | null, text: string, quote: string): Anchor {
  const from = text.indexOf(quote);
  const range = { from, to: from + quote.length };
  return {
    ...{ document: 'a', cell_id, target: 'source', range, version: null },
    ...remember(text, range),
    certainty: 'exact',
    output: null
  };
}

function wholeCell(cell_id: string): Anchor {
  const texts = { quote: 'one = 1', prefix: '', suffix: '' };
  return {
    ...{ document: 'a', cell_id, target: 'cell', range: null, version: null },
    ...{ ...texts, certainty: 'exact', output: null }
  };
}

it('follows a text in a file, and finds it again when its deletion is undone', () => {
  const file = new YFile();
  file.setSource('first line\nsecond line\nthird line\n');
  file.clearUndoHistory();
  const tracker = new ThreadTracker(file.ydoc, false);
  tracker.track('a', anchorOf(null, file.getSource(), 'second line'));

  file.updateSource(0, 0, 'new\n');
  file.undoManager.stopCapturing();
  expect(tracker.positionOf('a')?.range).toEqual({ from: 15, to: 26 });

  file.updateSource(15, 26, '');
  expect(tracker.positionOf('a')?.certainty).not.toBe('exact');
  expect(tracker.anchor('a', 'a', false)?.quote).toBe('second line');

  file.undo();
  expect(tracker.positionOf('a')).toMatchObject({
    range: { from: 15, to: 26 },
    certainty: 'exact'
  });
  tracker.dispose();
  file.dispose();
});

it('keeps a thread of a whole cell with its cell when that is cut and pasted', () => {
  const notebook = new YNotebook();
  notebook.insertCells(0, [
    { id: 'one', cell_type: 'code', source: 'one = 1' },
    { id: 'two', cell_type: 'code', source: 'two = 2' }
  ]);
  const tracker = new ThreadTracker(notebook.ydoc, true);
  tracker.track('a', wholeCell('one'));

  notebook.deleteCell(0);
  expect(tracker.anchor('a', 'a', false)?.certainty).toBe('orphaned');

  notebook.insertCell(1, { id: 'new', cell_type: 'code', source: 'one = 1' });
  expect(tracker.positionOf('a')?.unit.id).toBe('new');
  tracker.dispose();
  notebook.dispose();
});

it('calls a place in one of two cells of the same id uncertain, and follows its own', () => {
  const shared = new YNotebook();
  const cell = { cell_type: 'code' as const, id: 'c', source: 'one = 1' };
  shared.insertCells(0, [cell, { ...cell, id: 'd', source: 'two = 2' }]);
  const tracker = new ThreadTracker(shared.ydoc, true);
  tracker.track('text', anchorOf('c', 'one = 1', 'one'));
  tracker.track('cell', wholeCell('c'));
  tracker.track('other', anchorOf('d', 'two = 2', 'two'));
  const told: string[][] = [];
  tracker.moved.connect((_, { ids }) => told.push([...ids]));
  const certainties = (): unknown[] =>
    tracker.ids.map(id => tracker.anchor(id, 'a', false)?.certainty);
  expect(certainties()).toEqual(['exact', 'exact', 'exact']);

  shared.insertCell(0, { ...cell, source: 'one = 1 # before' });
  expect(certainties()).toEqual(['approximate', 'approximate', 'exact']);
  shared.cells[1]?.updateSource(0, 0, '# ');
  expect(tracker.positionOf('text')?.unit).toBe(
    tracker.positionOf('cell')?.unit
  );
  expect(tracker.positionOf('text')?.range).toEqual({ from: 2, to: 5 });

  shared.deleteCell(0);
  expect(certainties()).toEqual(['exact', 'exact', 'exact']);
  expect(told).toEqual(Array(3).fill(['text', 'cell']));
  tracker.dispose();
  shared.dispose();
});

it('calls a text uncertain whose deleted part comes back with a new cell', () => {
  const shared = new YNotebook();
  const cell = { cell_type: 'code' as const, id: 'c' };
  shared.insertCell(0, { ...cell, source: 'one = 1\ntwo = 2' });
  const tracker = new ThreadTracker(shared.ydoc, true);
  tracker.track('a', anchorOf('c', 'one = 1\ntwo = 2', 'two = 2'));
  shared.cells[0]?.updateSource(9, 15, '');
  expect(tracker.anchor('a', 'a', false)?.quote).toBe('t');
  shared.transact(() => {
    shared.deleteCell(0); // As JupyterLab does when the move is undone.
    shared.insertCell(0, { ...cell, source: 'one = 1\ntwo = 2' });
  });
  expect(tracker.positionOf('a')).toMatchObject({
    range: { from: 8, to: 15 },
    certainty: 'approximate'
  });
  tracker.dispose();
  shared.dispose();
});

it('calls a text uncertain of which some that was deleted comes back with a new cell', () => {
  const shared = new YNotebook();
  const cell = { cell_type: 'code' as const, id: 'c' };
  shared.insertCell(0, { ...cell, source: 'one = 1\ntwo = 2' });
  const tracker = new ThreadTracker(shared.ydoc, true);
  tracker.track('a', anchorOf('c', 'one = 1\ntwo = 2', 'two = 2'));
  shared.cells[0]?.updateSource(13, 15, '');
  shared.cells[0]?.updateSource(9, 13, '');
  expect(tracker.anchor('a', 'a', false)?.quote).toBe('t');
  shared.transact(() => {
    shared.deleteCell(0);
    shared.insertCell(0, { ...cell, source: 'one = 1\ntwo =' });
  });
  expect(tracker.positionOf('a')).toMatchObject({
    range: { from: 8, to: 13 },
    certainty: 'approximate'
  });
  tracker.dispose();
  shared.dispose();
});

it('finds the text of a cell that comes back by undoing without what was deleted of it before', () => {
  const shared = new YNotebook({ disableDocumentWideUndoRedo: true });
  const cell = { cell_type: 'code' as const, id: 'c' };
  shared.insertCell(0, { ...cell, source: 'one = 1\ntwo = 2 + 2' });
  shared.clearUndoHistory();
  const tracker = new ThreadTracker(shared.ydoc, true);
  tracker.track('a', anchorOf('c', 'one = 1\ntwo = 2 + 2', 'two = 2 + 2'));
  shared.cells[0]?.updateSource(15, 19, ''); // The notebook cannot undo this.
  shared.undoManager.stopCapturing();
  shared.transact(() => {
    shared.deleteCell(0); // As JupyterLab does to change the cell's type.
    shared.insertCell(0, { ...cell, source: 'one = 1\ntwo = 2' });
  });
  shared.cells[0]?.updateSource(9, 15, '');
  expect(tracker.anchor('a', 'a', false)?.quote).toBe('t');
  shared.undo();
  expect(shared.cells[0]?.getSource()).toBe('one = 1\ntwo = 2');
  expect(tracker.positionOf('a')).toMatchObject({
    range: { from: 8, to: 15 },
    certainty: 'exact'
  });
  shared.redo();
  expect(tracker.anchor('a', 'a', false)?.quote).toBe('t');
  tracker.dispose();
  shared.dispose();
});

it('calls a text uncertain that undoing writes a second time', () => {
  const file = new YFile();
  file.setSource('one = 1\ntwo = 2\n');
  file.clearUndoHistory();
  const tracker = new ThreadTracker(file.ydoc, false);
  tracker.track('a', anchorOf(null, file.getSource(), 'two = 2'));
  file.updateSource(8, 15, '');
  const text = file.ydoc.getText('source');
  file.ydoc.transact(() => text.insert(8, 'two = 2'), 'somebody else');
  expect(tracker.positionOf('a')?.certainty).toBe('exact');

  file.undo();
  expect(file.getSource()).toBe('one = 1\ntwo = 2two = 2\n');
  expect(tracker.positionOf('a')?.certainty).toBe('approximate');

  file.redo();
  expect(tracker.positionOf('a')).toMatchObject({
    range: { from: 8, to: 15 },
    certainty: 'exact'
  });
  tracker.dispose();
  file.dispose();
});
