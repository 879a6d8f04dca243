/** The way through the changes, round and round, over all documents. */

import { expect, test } from 'vitest';

import { byDocument, nextStop, placeOf, stopsOf } from '../stops';
import { edit } from './fixtures';

const first = edit('one');
const made = { ...edit('two'), baseline: null, hunks: [] };
const file = edit('three', { document: 'b.py', cell_id: null });
const edits = [first, made, file];
const closed = () => null;

test('a text has as many stops as changes, what was made one', () => {
  const two = edit('one', { hunks: [...first.hunks, ...first.hunks] });
  const stops = stopsOf([two, made], closed);
  expect(stops.map(({ edit: { id }, index }) => [id, index])).toEqual([
    ['one', 0],
    ['one', 1],
    ['two', 0]
  ]);
});

test('an open editor knows better how many are left', () => {
  const stops = stopsOf(edits, ({ id }) => (id === 'one' ? 3 : null));
  expect(stops).toHaveLength(5);
  expect(stopsOf([first], () => 0)).toEqual([]);
});

test('the way leads over the documents and round', () => {
  const stops = stopsOf(edits, closed);
  let stop = nextStop(stops, null, 1, null);
  const seen: (string | undefined)[] = [];
  for (let step = 0; step < 4; step++) {
    seen.push(stop?.edit.id);
    stop = nextStop(stops, stop, 1, null);
  }
  expect(seen).toEqual(['one', 'two', 'three', 'one']);
  expect(nextStop(stops, stops[0] ?? null, -1, null)?.edit.id).toBe('three');
});

test('it begins in the document in front, and goes on there after a decision', () => {
  const stops = stopsOf(edits, closed);
  expect(nextStop(stops, null, 1, 'b.py')?.edit.id).toBe('three');
  const gone = { edit: edit('gone', { document: 'b.py' }), index: 0 };
  expect(nextStop(stops, gone, 1, 'a.ipynb')?.edit.id).toBe('three');
  expect(nextStop([], null, 1, null)).toBeNull();
});

test('a change has its place, from 1', () => {
  const stops = stopsOf(edits, closed);
  expect(placeOf(stops, stops[1] ?? null)).toBe(2);
  expect(placeOf(stops, null)).toBe(0);
});

test('changes are counted by document', () => {
  const counted = byDocument(stopsOf(edits, closed));
  expect(counted.map(({ document, changes }) => [document, changes])).toEqual([
    ['a.ipynb', 2],
    ['b.py', 1]
  ]);
});
