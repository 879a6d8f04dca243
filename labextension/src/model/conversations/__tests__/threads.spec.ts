/** Task threads: how they begin, how they are read and resolved. */

import { describe, expect, test, vi } from 'vitest';

import type { ISessionQuery } from '../../../client/http';
import type { Anchor, CreateSession, Session } from '../../../wire/generated';
import { Conversations } from '../conversations';
import { SessionsStore } from '../../sessions/sessionHistory';
import { ThreadsStore } from '../../sessions/threadSessions';
import {
  FakeServer,
  FakeSocket,
  session,
  settled
} from '../../__tests__/fakes';

const place: Anchor = {
  document: 'a.ipynb',
  cell_id: 'c1',
  target: 'source',
  range: { from: 4, to: 10 },
  quote: 'load()',
  prefix: 'a = ',
  suffix: '',
  version: null,
  certainty: 'exact',
  output: null
};

const thread = (id: string, change: Partial<Session> = {}): Session =>
  session(id, { kind: 'task', anchor: place, ...change });

/** A server that filters sessions by document and pages them. */
class Threads extends FakeServer {
  page = 100;

  override async sessions(query: ISessionQuery = {}) {
    this.requests.push(['sessions', query]);
    const { document, cursor = '0', kind } = query;
    const all = this.sessionList.filter(
      each =>
        each.kind === kind &&
        (document === undefined || each.anchor?.document === document)
    );
    const end = Number(cursor) + this.page;
    return {
      sessions: all.slice(Number(cursor), end),
      next_cursor: end < all.length ? String(end) : null
    };
  }

  override async patchSession(id: string, body: object) {
    this.requests.push(['patchSession', id, body]);
    const changed = thread(id, { ...body, updated_at: '2026-11-30' });
    return changed;
  }
}

describe('a thread that begins', () => {
  const open = (text: string | null = null) => {
    const storage = {
      text,
      read: () => storage.text,
      write: (next: string) => {
        storage.text = next;
      }
    };
    const server = new FakeServer();
    let count = 0;
    const conversations = new Conversations({
      http: server,
      socket: new FakeSocket(),
      storage,
      newId: () => `id-${text?.length ?? 0}-${count++}`
    });
    return { conversations, server, keeper: storage };
  };

  test('is made by the server with its first message, at its place', async () => {
    const { conversations, server } = open();
    conversations.openThread(place);
    const { key } = conversations.active;
    expect(conversations.anchor(key)).toEqual(place);
    expect(server.requests).toEqual([]);
    await conversations.send(key, { text: 'Why?' });
    const made: CreateSession = {
      kind: 'task',
      anchor: place,
      model: null,
      mode: 'ask'
    };
    expect(server.requests[0]).toEqual(['createSession', made]);
    expect(conversations.active).toEqual({ key, sessionId: 'made-0' });
  });

  test('is kept over a reload, and found again at its place', () => {
    const { conversations, keeper } = open();
    conversations.openThread(place);
    conversations.setDraft(conversations.active.key, 'Why');
    const again = open(keeper.text).conversations;
    expect(again.anchor(again.active.key)).toEqual(place);
    again.openThread({ ...place, quote: 'other' });
    expect(again.tabs).toHaveLength(2);
    again.openThread({ ...place });
    expect(again.draft(again.active.key)).toBe('Why');
    expect(again.tabs).toHaveLength(2);
  });

  test('takes the place of a conversation that is for nothing, not of a draft', () => {
    const { conversations } = open();
    conversations.setDraft(conversations.active.key, 'something');
    conversations.openThread(place);
    expect(conversations.tabs).toHaveLength(2);
    conversations.create();
    expect(conversations.draft(conversations.active.key)).toBe('something');
    conversations.setDraft(conversations.active.key, '');
    conversations.openThread({ ...place, quote: 'other' });
    expect(conversations.tabs).toHaveLength(2);
  });

  test('has what was written when its tab was closed', () => {
    const { conversations } = open();
    conversations.openThread(place);
    conversations.setDraft(conversations.active.key, 'Why');
    conversations.close(conversations.active.key);
    expect(conversations.draft(conversations.active.key)).toBe('');
    conversations.openThread(place);
    expect(conversations.draft(conversations.active.key)).toBe('Why');
  });

  describe('and whose first message the server refuses', () => {
    const refused = async (code: number, retryable = false) => {
      const { conversations, server } = open();
      const sendMessage = server.sendMessage.bind(server);
      server.sendMessage = async () => {
        server.fail({ retryable }, code);
        const { failure } = server;
        server.failure = null;
        throw failure ?? new Error('The server was to fail.');
      };
      conversations.openThread(place);
      const { key } = conversations.active;
      await conversations.send(key, { text: 'Why?' });
      const deleted = () =>
        server.requests.filter(([what]) => what === 'deleteSession');
      return { conversations, server, key, deleted, sendMessage };
    };

    test('leaves no session, and is begun with what was written', async () => {
      const scene = await refused(400);
      const { conversations, server, key } = scene;
      expect(scene.deleted()).toEqual([['deleteSession', 'made-0']]);
      expect(conversations.active).toEqual({
        ...{ key, sessionId: null, anchor: place }
      });
      const [left] = conversations.outbox(key);
      expect(left?.error).not.toBeNull();

      server.sendMessage = scene.sendMessage;
      await conversations.retrySend(key, left?.body.id ?? '');
      expect(conversations.active).toEqual({ key, sessionId: 'made-1' });
      expect(server.requests.at(-1)?.slice(0, 2)).toEqual([
        'sendMessage',
        'made-1'
      ]);
      expect(scene.deleted()).toHaveLength(1);
    });

    test('waits in its tab when that is closed', async () => {
      const { conversations, key } = await refused(400);
      conversations.close(key);
      conversations.openThread(place);
      expect(conversations.active.key).toBe(key);
      expect(conversations.outbox(key)).toHaveLength(1);
    });

    test.each([
      [503, false],
      [429, true]
    ])('has its session when that may pass: %s', async (code, retryable) => {
      const { conversations, deleted } = await refused(code, retryable);
      expect(deleted()).toEqual([]);
      expect(conversations.active.sessionId).toBe('made-0');
    });

    test('has its session when a message came before', async () => {
      const { conversations, server } = open();
      conversations.openThread(place);
      const { key } = conversations.active;
      await conversations.send(key, { text: 'Why?' });
      server.fail({}, 400);
      await conversations.send(key, { text: 'And?' });
      expect(conversations.active.sessionId).toBe('made-0');
    });
  });

  test('is said to be in front', () => {
    const { conversations } = open();
    let told = 0;
    conversations.revealed.connect(() => told++);
    conversations.openThread(place);
    conversations.open('s1');
    conversations.close(conversations.active.key);
    expect(told).toBe(2);
  });
});

describe('the threads of a document', () => {
  const store = (...list: Session[]) => {
    const server = new Threads();
    server.sessionList = list;
    const history = new SessionsStore(server);
    return { server, history, threads: new ThreadsStore(server, history) };
  };

  test('are read once, all pages of them, and counted', async () => {
    const { server, threads } = store(
      thread('t1'),
      thread('t2', { status: 'resolved' }),
      thread('t3')
    );
    server.page = 2;
    await threads.load('a.ipynb');
    await threads.load('a.ipynb');
    expect(server.requests).toHaveLength(2);
    expect(threads.count('a.ipynb')).toBe(2);
    expect(threads.count('b.ipynb')).toBe(0);
    await threads.reread();
    expect(server.requests).toHaveLength(4);
    await threads.load('a.ipynb');
    expect(server.requests).toHaveLength(4);
  });

  test('that were deleted unheard are gone when they are read again', async () => {
    const { server, threads } = store(thread('t1'), thread('t2'));
    await threads.refresh('a.ipynb');
    server.sessionList = [thread('t2')];
    await threads.refresh('a.ipynb');
    expect(threads.all.map(({ id }) => id)).toEqual(['t2']);
    expect(threads.isRead).toBe(true);
  });

  test('of all documents are read page by page', async () => {
    const { server, threads } = store(thread('t1'), thread('t2'), thread('t3'));
    server.page = 2;
    await threads.refresh(null);
    expect(threads.hasMore).toBe(true);
    await threads.loadMore();
    expect(threads.hasMore).toBe(false);
    expect(threads.all).toHaveLength(3);
  });

  test('that could not be read are asked for again, with words for it', async () => {
    const { server, threads } = store();
    const works = server.sessions.bind(server);
    server.sessions = () => Promise.reject(new Error('no way'));
    await threads.load('a.ipynb');
    expect(threads.error?.message).toContain('no way');
    server.sessions = works;
    await threads.load('a.ipynb');
    expect(threads.error).toBeNull();
  });

  test('are resolved once they are idle', async () => {
    const { server, history, threads } = store();
    history.receive([thread('t1', { status: 'running' })]);
    const resolving = threads.resolve('t1', true);
    await settled();
    expect(server.requests).toEqual([['cancel', 't1']]);
    history.receive([thread('t1', { updated_at: '2026-11-22' })]);
    await resolving;
    expect(server.requests.at(-1)).toEqual([
      'patchSession',
      't1',
      { status: 'resolved' }
    ]);
    expect(history.get('t1')?.status).toBe('resolved');
  });

  test('are resolved by the server where the end of a turn is not heard', async () => {
    vi.useFakeTimers();
    try {
      const { server, history, threads } = store();
      history.receive([thread('t1', { status: 'running' })]);
      const resolving = threads.resolve('t1', true);
      await vi.advanceTimersByTimeAsync(29_000);
      expect(server.requests).toEqual([['cancel', 't1']]);
      await vi.advanceTimersByTimeAsync(1_000);
      await resolving;
      expect(server.requests).toHaveLength(2);
      expect(history.get('t1')?.status).toBe('resolved');
    } finally {
      vi.useRealTimers();
    }
  });
});
