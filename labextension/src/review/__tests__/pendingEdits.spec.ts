/** The store of pending edits: read again when the server reports a change; decisions on known edits only. */

import { expect, test } from 'vitest';

import { FakeServer, FakeSocket, settled } from '../../model/__tests__/fakes';
import type { PendingEdit } from '../../wire/generated';
import { PendingEditsStore } from '../pendingEdits';
import { edit } from './fixtures';

function made(edits: PendingEdit[] = []): {
  server: FakeServer;
  socket: FakeSocket;
  store: PendingEditsStore;
  pauses: number[];
} {
  const server = new FakeServer();
  const socket = new FakeSocket();
  const pauses: number[] = [];
  server.edits = edits;
  const store = new PendingEditsStore(server, socket, milliseconds => {
    pauses.push(milliseconds);
    return Promise.resolve();
  });
  return { server, socket, store, pauses };
}

test('the list is read at once, again when the server says so and after a reconnection', async () => {
  const { server, socket, store } = made([edit('one')]);
  let told = 0;
  store.changed.connect(() => told++);
  await settled();
  expect(store.edits).toEqual([edit('one')]);
  server.edits = [edit('one'), edit('two')];
  socket.frameReceived.emit({ type: 'edits-update', document: 'a.ipynb' });
  await settled();
  expect(store.edits).toHaveLength(2);
  server.edits = [];
  socket.opened.emit();
  await settled();
  expect(store.edits).toEqual([]);
  expect(told).toBe(3);
});

test('no signal is emitted for an unchanged list', async () => {
  const { store } = made([edit('one')]);
  await settled();
  let told = 0;
  store.changed.connect(() => told++);
  await store.refresh();
  expect(told).toBe(0);
});

test('a list that cannot be read stays as it was', async () => {
  const { server, store } = made([edit('one')]);
  await settled();
  server.fail({}, 404);
  await store.refresh();
  expect(store.edits).toHaveLength(1);
});

test('a decision waits until the server knows the text as it is', async () => {
  const { server, store, pauses } = made();
  await settled();
  server.fail({ code: 'stale' }, 409);
  await store.decide('one', { decision: 'keep', baseline: 'x' });
  expect(pauses).toHaveLength(1);
  expect(
    server.requests.filter(([what]) => what === 'decideEdit')
  ).toHaveLength(2);
});

test('another failure of a decision is reported at once', async () => {
  const { server, store, pauses } = made();
  await settled();
  server.fail({}, 500);
  await expect(store.decide('one', { decision: 'keep' })).rejects.toThrow();
  expect(pauses).toEqual([]);
});

test('whole edits are decided as they were seen, and the remaining ones are reported', async () => {
  const { server, store } = made([edit('one')]);
  await settled();
  await store.decideAll('undo', store.edits);
  expect(server.requests).toContainEqual([
    'decideEdits',
    {
      decision: 'undo',
      edits: [{ id: 'one', current_version: 'c', baseline_version: 'b' }]
    }
  ]);
  const error = { ...ERROR, message: 'It was changed since.' };
  server.allDecided = {
    resolved: [],
    left: [{ error, edit: null }],
    drift: []
  };
  await expect(store.decideAll('undo', store.edits)).rejects.toThrow(
    'It was changed since.'
  );
});

test('nothing is asked for no edits', async () => {
  const { server, store } = made();
  await settled();
  await store.decideAll('keep', []);
  expect(server.requests).toEqual([]);
});

test('variables that a kernel still holds are reported', async () => {
  const { server, store } = made();
  const drift = {
    document: 'a.ipynb',
    kernel: 'same' as const,
    cells: [{ cell_id: 'one', title: 'x = 1', names: ['x'] }]
  };
  const told: unknown[] = [];
  store.drifted.connect((_, held) => told.push(held));
  server.decided = { edit: null, drift };
  await store.decide('one', { decision: 'undo' });
  expect(told).toEqual([[drift]]);
});

const ERROR = {
  code: 'stale' as const,
  message: '',
  hint: null,
  retryable: false,
  details: null,
  provider: null,
  model: null,
  request_id: null
};
