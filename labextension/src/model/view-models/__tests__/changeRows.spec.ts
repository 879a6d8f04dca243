import { describe, expect, test } from 'vitest';

import type {
  ChangeView,
  ErrorInfo,
  PendingEdit
} from '../../../wire/generated';
import {
  decidable,
  groupsOf,
  linesOf,
  updatePositions,
  rowsOf,
  sizeOf
} from '../changeRows';
import { change, pendingEdit } from '../../__tests__/editFixtures';
import { problem } from '../../__tests__/fakes';
import { fixture } from '../../__tests__/reducerFixtures';

const standings = (
  changes: readonly ChangeView[],
  edits: readonly PendingEdit[],
  turn = 't1'
) => rowsOf(changes, turn, edits).map(({ key, status }) => [key, status]);

describe('the changes of a turn', () => {
  test('are those of this turn, as the log tells of them', () => {
    const { changes } = fixture('changes').expected;
    expect(standings(changes, [])).toEqual([
      ['e1', 'kept'],
      ['e2', 'undone'],
      ['e3', 'undone'],
      ['moved c3', 'undone'],
      ['cleared c4', 'undone'],
      ['moved ', 'undone'],
      ['made ', 'undone']
    ]);
    expect(standings(changes, [], 't2')).toEqual([['e1', 'kept']]);
    expect(standings(changes, [], 't3')).toEqual([]);
  });

  test('can be decided while the server has them, by the latest turn that made them', () => {
    const first = change('e1');
    const again = change('e1', { turn_id: 't2' });
    const edits = [pendingEdit('e1')];
    expect(standings([first], edits)).toEqual([['e1', 'pending']]);
    expect(standings([first], [])).toEqual([['e1', 'gone']]);
    expect(standings([first, again], edits)).toEqual([['e1', 'later']]);
    expect(standings([first, again], edits, 't2')).toEqual([['e1', 'pending']]);
  });

  test('that the server has kept by itself were changed by others later', () => {
    const kept = change('e1', { state: 'kept', by: 'system' });
    expect(standings([kept], [])).toEqual([['e1', 'later']]);
  });

  test('whose texts are lost are distinguished from a new cell', () => {
    const error: ErrorInfo = problem;
    const lost = pendingEdit('e1', { baseline: null, current: null, error });
    const [row] = rowsOf([change('e1', { what: 'deleted' })], 't1', [lost]);
    expect(row?.status).toBe('lost');
    expect(row?.kind).toBe('deleted');
    expect(decidable(row === undefined ? [] : [row])).toEqual([]);
  });

  test('say what all turns together did to a cell', () => {
    const edited = change('e1', { what: 'edited' });
    const what = (edit: PendingEdit) =>
      rowsOf([edited], 't1', [edit]).map(row => row.kind);
    expect(what(pendingEdit('e1'))).toEqual(['edited']);
    expect(what(pendingEdit('e1', { baseline: null }))).toEqual(['made']);
    expect(what(pendingEdit('e1', { current: null }))).toEqual(['deleted']);
  });

  test('are grouped by document, cells in the order of the notebook', () => {
    const file = change('e3', { document: 'a.py', cell_id: null });
    const changes = [change('e1'), file, change('e2', { cell_id: 'c2' })];
    const edits = [
      pendingEdit('e1', { position: 4 }),
      pendingEdit('e2', { position: 1 }),
      pendingEdit('e3', { position: null })
    ];
    const rows = rowsOf(changes, 't1', edits);
    const kept = rowsOf(changes, 't1', [], updatePositions(new Map(), edits));
    const order = ['e2', 'e1', 'e3'];
    expect(kept.map(({ key }) => key)).toEqual(order);
    expect(rows.map(({ key }) => key)).toEqual(order);
    const groups = groupsOf(rows);
    expect(
      groups.map(({ document, isNotebook, rows }) => [
        document,
        isNotebook,
        ...rows.map(({ key }) => key)
      ])
    ).toEqual([
      ['a.ipynb', true, 'e2', 'e1'],
      ['a.py', false, 'e3']
    ]);
  });

  test('have the size of what differs', () => {
    expect(sizeOf(pendingEdit('e1'))).toEqual({ added: 1, removed: 1 });
    const made = pendingEdit('e1', { baseline: null, current: 'a\nb' });
    expect(sizeOf(made)).toEqual({ added: 2, removed: 0 });
    const file = { baseline: null, current: 'a\nb\n' };
    expect(sizeOf(pendingEdit('e1', file))).toEqual({ added: 2, removed: 0 });
    const end = { baseline: 'a', current: 'a\n' };
    expect(sizeOf(pendingEdit('e1', end))).toEqual({ added: 1, removed: 0 });
    const gone = pendingEdit('e1', { baseline: 'a\nb', current: null });
    expect(linesOf(gone).map(({ kind }) => kind)).toEqual(['old', 'old']);
  });
});
