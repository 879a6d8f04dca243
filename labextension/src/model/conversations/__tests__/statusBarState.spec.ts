import { Signal } from '@lumino/signaling';
import { expect, test } from 'vitest';

import type { Event, Session } from '../../../wire/generated';
import type { IConversations } from '../interface';
import { StatusBarState } from '../statusBarState';
import {
  FakeServer,
  FakeSocket,
  model,
  session,
  settled
} from '../../__tests__/fakes';

async function made() {
  const server = new FakeServer();
  const socket = new FakeSocket();
  const known = { id: null as string | null };
  const conversations = {
    changed: new Signal<object, void>({}),
    active: { key: 'tab' },
    model: () => known.id,
    models: { models: [model('a/big', { name: 'Big' })] }
  };
  const facts = new StatusBarState(
    server,
    socket,
    conversations as unknown as IConversations // The members used here.
  );
  facts.read();
  await settled();
  const update = (id: string, status: Session['status']): void =>
    socket.deliver([
      { type: 'session-update', session: session(id, { status }) }
    ] as unknown as Event[]); // Other event fields do not matter here.
  return { server, socket, facts, known, update };
}

test('tells the model of the conversation in front, else the one of new conversations', async () => {
  const { facts, known } = await made();
  expect(facts.current.model).toBe('demo/demo');

  known.id = 'a/big';
  expect(facts.current.model).toBe('Big');
});

test('counts the turns that run, in whatever conversation', async () => {
  const { facts, socket, update } = await made();

  update('s1', 'running');
  update('s2', 'waiting');
  update('s3', 'idle');
  expect(facts.current).toMatchObject({ running: 1, waiting: 1 });
  update('s1', 'idle');
  socket.frameReceived.emit({ type: 'session-delete', session_id: 's2' });

  expect(facts.current).toMatchObject({ running: 0, waiting: 0 });
});

test('knows what the month has cost, and reads it again when the limit is another', async () => {
  const { facts, server, socket } = await made();
  expect(facts.current).toMatchObject({ cost: 0, limit: null });
  const limits = server.budget.limits.map(limit => ({
    ...limit,
    limit_micro_usd: 5
  }));
  server.budget = { ...server.budget, limits };

  socket.frameReceived.emit({ type: 'settings-update', part: 'budget' });
  await settled();

  expect(facts.current.limit).toBe(5);
});
