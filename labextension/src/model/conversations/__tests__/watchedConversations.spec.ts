import { describe, expect, test, vi } from 'vitest';

import { Conversations } from '../conversations';
import { FakeServer, FakeSocket } from '../../__tests__/fakes';

function open() {
  const socket = new FakeSocket();
  const server = new FakeServer();
  server.logs.set('s1', []);
  let count = 0;
  const conversations = new Conversations({
    http: server,
    socket,
    storage: { read: () => null, write: () => undefined },
    newId: () => `id-${count++}`,
    schedule: callback => callback()
  });
  return { conversations, socket };
}

describe('a conversation that is watched outside of the tabs', () => {
  test('is followed until nobody watches any more', async () => {
    const { conversations, socket } = open();
    conversations.watch('s1');
    await vi.waitFor(() => expect(socket.subscriptions.has('s1')).toBe(true));
    conversations.unwatch('s1');
    expect(socket.subscriptions.has('s1')).toBe(false);
  });

  test('stays subscribed when its tab is closed, and in its tab when it is not watched', async () => {
    const { conversations, socket } = open();
    conversations.open('s1');
    const { key } = conversations.active;
    const watched = conversations.watch('s1');
    await vi.waitFor(() => expect(socket.subscriptions.has('s1')).toBe(true));
    expect(conversations.store(key)).toBe(watched);
    conversations.unwatch('s1');
    expect(socket.subscriptions.has('s1')).toBe(true);
    conversations.watch('s1');
    conversations.close(key);
    expect(watched.isDisposed).toBe(false);
    conversations.unwatch('s1');
    expect(watched.isDisposed).toBe(true);
  });
});
