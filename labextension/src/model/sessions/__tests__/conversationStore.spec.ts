/** A conversation store loads the log, follows it, and reloads after a gap. */

import { describe, expect, test } from 'vitest';

import { Conversations } from '../../conversations/conversations';
import { EMPTY, reduceConversation } from '../../reducer/conversation';
import {
  FakeServer,
  FakeSocket,
  problem,
  settled
} from '../../__tests__/fakes';
import {
  events,
  expected,
  Keeper,
  of,
  open,
  withLog
} from '../../__tests__/inMemoryConversations';

describe('a conversation', () => {
  test('is read from the log, then followed over the socket', async () => {
    const { store, socket } = await withLog();
    expect(store.view.last_seq).toBe(5);
    expect(socket.subscriptions.get('s1')).toBe(5);
    socket.deliver(of('s1', events.slice(4, 8)));
    socket.deliver(of('s1', events.slice(8)));
    expect(store.view).toEqual(expected);
  });

  test('is read in pages', async () => {
    const { conversations, server } = open();
    server.pageSize = 3;
    server.logs.set('s1', of('s1', events));
    conversations.open('s1');
    const store = conversations.store(conversations.active.key);
    await settled();
    expect(store?.view).toEqual(expected);
    expect(server.requests.map(([, , after]) => after)).toEqual([
      0, 3, 6, 9, 12
    ]);
  });

  test('reads again what a gap left out', async () => {
    const { store, socket, server } = await withLog();
    server.logs.set('s1', of('s1', events));
    socket.deliver(of('s1', events.slice(7, 9)));
    expect(store.view.last_seq).toBe(5);
    await settled();
    expect(store.view).toEqual(expected);
    expect(socket.subscriptions.get('s1')).toBe(events.length);
  });

  test('reads again when the server says that it left something out', async () => {
    const { store, socket, server } = await withLog();
    server.logs.set('s1', of('s1', events));
    socket.resyncRequested.emit({
      type: 'resync',
      session_id: 's1',
      after: 5
    });
    await settled();
    expect(store.view).toEqual(expected);
  });

  test('starts over when the log has less than was shown', async () => {
    const { store, socket, server } = await withLog();
    const fewer = of('s1', events.slice(0, 2));
    server.logs.set('s1', fewer);
    socket.frameReceived.emit({
      type: 'frame-error',
      error: { ...problem, code: 'stale', details: { session_id: 's1' } }
    });
    await settled();
    expect(store.view.last_seq).toBe(2);
    expect(store.view).toEqual(fewer.reduce(reduceConversation, EMPTY));
    expect(socket.subscriptions.get('s1')).toBe(2);
  });

  test('keeps what it has when the log cannot be read, and tries again', async () => {
    const { store, server } = await withLog();
    server.fail({ message: 'Gone.' });
    await store.load();
    expect(store.error?.message).toBe('Gone.');
    expect(store.view.last_seq).toBe(5);
    await store.load();
    expect(store.error).toBeNull();
  });

  test('tells its views at most once per frame', async () => {
    let count = 0;
    const frames: (() => void)[] = [];
    const server = new FakeServer();
    const socket = new FakeSocket();
    const conversations = new Conversations({
      http: server,
      socket,
      storage: new Keeper(),
      newId: () => String(count++),
      schedule: callback => frames.push(callback)
    });
    conversations.open('s1');
    const store = conversations.store(conversations.active.key);
    await settled();
    let told = 0;
    store?.changed.connect(() => told++);
    frames.splice(0).forEach(frame => frame());
    told = 0;
    events.forEach(event => socket.deliver(of('s1', [event])));
    expect(frames).toHaveLength(1);
    frames.forEach(frame => frame());
    expect(told).toBe(1);
    conversations.dispose();
  });
});
