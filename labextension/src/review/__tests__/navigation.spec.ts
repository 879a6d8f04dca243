/** Navigation through the changes of all documents, wrapping around. */

import { expect, test } from 'vitest';

import {
  afterDecision,
  byDocument,
  nextStop,
  positionOf,
  stopInFront,
  stopsOf
} from '../navigation';
import { edit } from './fixtures';

const first = edit('one');
const made = { ...edit('two'), baseline: null, hunks: [] };
const file = edit('three', { document: 'b.py', cell_id: null });
const edits = [first, made, file];
const closed = () => null;

test('a text has as many stops as an editor would show changes, what was made one', () => {
  const two = {
    ...first,
    id: 'two lines',
    baseline: 'a\nb\nc',
    current: 'A\nb\nC',
    hunks: []
  };
  const stops = stopsOf([two, made], closed);
  expect(stops.map(({ edit: { id }, index }) => [id, index])).toEqual([
    ['two lines', 0],
    ['two lines', 1],
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
  let stop = nextStop(stops, null, 1);
  const seen: (string | undefined)[] = [];
  for (let step = 0; step < 4; step++) {
    seen.push(stop?.edit.id);
    stop = nextStop(stops, stop, 1);
  }
  expect(seen).toEqual(['one', 'two', 'three', 'one']);
  expect(nextStop(stops, stops[0] ?? null, -1)?.edit.id).toBe('three');
  expect(nextStop([], null, 1)).toBeNull();
});

test('it begins with the document in front', () => {
  const stops = stopsOf(edits, closed, 'b.py');
  expect(stops.map(({ edit: { id } }) => id)).toEqual(['three', 'one', 'two']);
  expect(stopInFront(stops, null, 0)?.edit.id).toBe('three');
});

test('when the change in front is decided the next one is in its place', () => {
  const stops = stopsOf([first, file], closed);
  const gone = { edit: made, index: 0 };
  expect(stopInFront(stops, gone, 2)?.edit.id).toBe('three');
  expect(stopInFront(stops, gone, 3)?.edit.id).toBe('one');
  expect(stopInFront([], gone, 1)).toBeNull();
});

test('a change stays in front when one before it is decided', () => {
  const [one, other] = [
    { edit: first, index: 2 },
    { edit: made, index: 0 }
  ];
  expect(afterDecision(one, { edit: first, index: 0 })?.index).toBe(1);
  expect(afterDecision(one, { edit: first, index: 2 })).toBe(one);
  expect(afterDecision(one, other)).toBe(one);
});

test('a change has its place, from 1', () => {
  const stops = stopsOf(edits, closed);
  expect(positionOf(stops, stops[1] ?? null)).toBe(2);
  expect(positionOf(stops, null)).toBe(0);
});

test('changes are counted by document', () => {
  const counted = byDocument(stopsOf(edits, closed));
  expect(counted.map(({ document, changes }) => [document, changes])).toEqual([
    ['a.ipynb', 2],
    ['b.py', 1]
  ]);
});
