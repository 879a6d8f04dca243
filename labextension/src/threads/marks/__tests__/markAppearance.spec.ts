import { nullTranslator } from '@jupyterlab/translation';
import { expect, test } from 'vitest';

import { classesOf, labelOf, markOf, mostUrgent } from '../markAppearance';
import { mark, location, thread } from '../../__tests__/fixtures';

const trans = nullTranslator.load('');
const THERE = location('t', 1, { from: 0, to: 4 });

test.each([
  ['resolved', markOf(THERE, thread('t', 'resolved'))],
  ['unknown', markOf(THERE, undefined)],
  ['lost', markOf(location('t', 1, null, 'orphaned'), thread('t'))]
])('a thread that is %s has no mark', (_, found) => {
  expect(found).toBeNull();
});

test('a mark shows its thread’s status and how certain its place is', () => {
  const unsure = location('t', 1, { from: 0, to: 4 }, 'approximate');
  const said = [
    mark(THERE),
    mark(THERE, 'running'),
    mark(THERE, 'waiting'),
    mark(THERE, 'error'),
    mark(THERE, 'interrupted'),
    mark(unsure)
  ].map(each => [classesOf([each]), labelOf([each], trans)]);
  expect(said).toEqual([
    ['shoulders-mod-idle', 'Thread t'],
    ['shoulders-mod-running', 'Thread t (working)'],
    ['shoulders-mod-waiting', 'Thread t (waiting for you)'],
    ['shoulders-mod-error', 'Thread t (stopped by an error)'],
    ['shoulders-mod-interrupted', 'Thread t (interrupted)'],
    [
      'shoulders-mod-idle shoulders-mod-approximate',
      'Thread t (most likely place)'
    ]
  ]);
});

test('one mark of several threads says how many, and shows the most urgent', () => {
  const marks = [mark(THERE), mark(THERE, 'running'), mark(THERE, 'waiting')];
  expect(mostUrgent(marks)).toBe('waiting');
  expect(classesOf(marks)).toBe('shoulders-mod-waiting shoulders-mod-several');
  expect(labelOf(marks, trans)).toBe('3 task threads');
});

test('a thread without a title has a name, and no character of a title is hidden', () => {
  const named = (title: string) => {
    const found = markOf(THERE, thread('t', 'idle', title));
    return found === null ? null : labelOf([found], trans);
  };
  expect(named(' ')).toBe('Task thread');
  expect(named('a\u202eb')).toBe('a⟨U+202E⟩b');
});
