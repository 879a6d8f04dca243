/** Task threads: how they begin, how they are read and listed, what became of what they proposed. */

import { describe, expect, test, vi } from 'vitest';

import type { ISessionQuery } from '../../../client/http';
import type {
  Anchor,
  CreateSession,
  PendingEdit,
  Proposal,
  Session
} from '../../../wire/generated';
import { Conversations } from '../conversations';
import { diffWords } from '../../../text/diff';
import {
  appliedIn,
  documentOf,
  editOfProposal
} from '../../view-models/proposals';
import { EMPTY } from '../../reducer/conversation';
import { SessionsStore } from '../../sessions/sessionHistory';
import {
  isWanted,
  listThreads,
  type IThreadListItem
} from '../../view-models/threadList';
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

/** A server that knows documents and takes a page after another. */
class Threads extends FakeServer {
  page = 100;

  override async sessions(query: ISessionQuery = {}) {
    this.asked.push(['sessions', query]);
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
    this.asked.push(['patchSession', id, body]);
    const changed = thread(id, { ...body, updated_at: '2026-11-30' });
    return changed;
  }
}

describe('a thread that begins', () => {
  const open = (text: string | null = null) => {
    const keeper = {
      text,
      read: () => keeper.text,
      write: (next: string) => {
        keeper.text = next;
      }
    };
    const server = new FakeServer();
    let count = 0;
    const conversations = new Conversations({
      http: server,
      socket: new FakeSocket(),
      keeper,
      newId: () => `id-${text?.length ?? 0}-${count++}`
    });
    return { conversations, server, keeper };
  };

  test('is made by the server with its first message, at its place', async () => {
    const { conversations, server } = open();
    conversations.beginThread(place);
    const { key } = conversations.active;
    expect(conversations.anchor(key)).toEqual(place);
    expect(server.asked).toEqual([]);
    await conversations.send(key, { text: 'Why?' });
    const made: CreateSession = {
      kind: 'task',
      anchor: place,
      model: null,
      mode: 'ask'
    };
    expect(server.asked[0]).toEqual(['createSession', made]);
    expect(conversations.active).toEqual({ key, sessionId: 'made-0' });
  });

  test('is kept over a reload, and found again at its place', () => {
    const { conversations, keeper } = open();
    conversations.beginThread(place);
    conversations.setDraft(conversations.active.key, 'Why');
    const again = open(keeper.text).conversations;
    expect(again.anchor(again.active.key)).toEqual(place);
    again.beginThread({ ...place, quote: 'other' });
    expect(again.tabs).toHaveLength(2);
    again.beginThread({ ...place });
    expect(again.draft(again.active.key)).toBe('Why');
    expect(again.tabs).toHaveLength(2);
  });

  test('takes the place of a conversation that is for nothing, not of a draft', () => {
    const { conversations } = open();
    conversations.setDraft(conversations.active.key, 'something');
    conversations.beginThread(place);
    expect(conversations.tabs).toHaveLength(2);
    conversations.create();
    expect(conversations.draft(conversations.active.key)).toBe('something');
    conversations.setDraft(conversations.active.key, '');
    conversations.beginThread({ ...place, quote: 'other' });
    expect(conversations.tabs).toHaveLength(2);
  });

  test('has what was written when its tab was closed', () => {
    const { conversations } = open();
    conversations.beginThread(place);
    conversations.setDraft(conversations.active.key, 'Why');
    conversations.close(conversations.active.key);
    expect(conversations.draft(conversations.active.key)).toBe('');
    conversations.beginThread(place);
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
      conversations.beginThread(place);
      const { key } = conversations.active;
      await conversations.send(key, { text: 'Why?' });
      const deleted = () =>
        server.asked.filter(([what]) => what === 'deleteSession');
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
      await conversations.sendAgain(key, left?.body.id ?? '');
      expect(conversations.active).toEqual({ key, sessionId: 'made-1' });
      expect(server.asked.at(-1)?.slice(0, 2)).toEqual([
        'sendMessage',
        'made-1'
      ]);
      expect(scene.deleted()).toHaveLength(1);
    });

    test('waits in its tab when that is closed', async () => {
      const { conversations, key } = await refused(400);
      conversations.close(key);
      conversations.beginThread(place);
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
      conversations.beginThread(place);
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
    conversations.beginThread(place);
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
    await threads.look('a.ipynb');
    await threads.look('a.ipynb');
    expect(server.asked).toHaveLength(2);
    expect(threads.count('a.ipynb')).toBe(2);
    expect(threads.count('b.ipynb')).toBe(0);
    await threads.reread();
    expect(server.asked).toHaveLength(4);
    await threads.look('a.ipynb');
    expect(server.asked).toHaveLength(4);
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
    await threads.more();
    expect(threads.hasMore).toBe(false);
    expect(threads.all).toHaveLength(3);
  });

  test('that could not be read are asked for again, with words for it', async () => {
    const { server, threads } = store();
    const works = server.sessions.bind(server);
    server.sessions = () => Promise.reject(new Error('no way'));
    await threads.look('a.ipynb');
    expect(threads.error?.message).toContain('no way');
    server.sessions = works;
    await threads.look('a.ipynb');
    expect(threads.error).toBeNull();
  });

  test('are resolved once nothing goes on in them', async () => {
    const { server, history, threads } = store();
    history.receive([thread('t1', { status: 'running' })]);
    const resolving = threads.resolve('t1', true);
    await settled();
    expect(server.asked).toEqual([['cancel', 't1']]);
    history.receive([thread('t1', { updated_at: '2026-11-22' })]);
    await resolving;
    expect(server.asked.at(-1)).toEqual([
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
      expect(server.asked).toEqual([['cancel', 't1']]);
      await vi.advanceTimersByTimeAsync(1_000);
      await resolving;
      expect(server.asked).toHaveLength(2);
      expect(history.get('t1')?.status).toBe('resolved');
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('the list', () => {
  const at = (
    id: string,
    change: Partial<Anchor> = {},
    order: number | null = null,
    status: Session['status'] = 'idle'
  ): IThreadListItem => {
    const anchor = { ...place, ...change };
    return { session: thread(id, { anchor, status }), anchor, order };
  };

  test('has those of the document in front first, in its order', () => {
    const list = listThreads(
      [
        at('lost', { certainty: 'orphaned' }, 0),
        at('last', {}, 2),
        at('done', {}, 1, 'resolved'),
        at('other', { document: 'b.py' }),
        at('unknown'),
        at('first', {}, 0)
      ],
      'a.ipynb'
    );
    const ids = (part: readonly IThreadListItem[]) =>
      part.map(({ session: { id } }) => id);
    expect(ids(list.here)).toEqual(['first', 'last', 'unknown', 'lost']);
    expect(ids(list.others)).toEqual(['other']);
    expect(ids(list.resolved)).toEqual(['done']);
  });

  test.each([
    ['load title', null, true],
    ['B.IPYNB', null, false],
    ['', 'open', true],
    ['', 'resolved', false],
    ['', 'lost', false],
    ['', 'waiting', false],
    ['', 'stopped', false]
  ] as const)('is narrowed by %j and %j', (text, filter, found) => {
    expect(isWanted(at('x'), text, filter)).toBe(found);
  });

  test.each([
    [at('x', { certainty: 'orphaned' }), 'lost'],
    [at('x', {}, 0, 'interrupted'), 'stopped'],
    [at('x', {}, 0, 'error'), 'stopped'],
    [at('x', {}, 0, 'running'), 'running']
  ] as const)('knows how a thread stands', (each, filter) => {
    expect(isWanted(each, '', filter)).toBe(true);
  });
});

describe('what was proposed', () => {
  const proposal = (state: Proposal['state']): Proposal => ({
    id: `p-${state}`,
    session_id: 's1',
    turn_id: null,
    document: 'a.ipynb',
    cell_id: 'c1',
    old: '',
    new: 'x',
    current: '',
    current_version: '',
    reason: '',
    state
  });
  const edit = { session_id: 's1', document: 'a.ipynb', cell_id: 'c1' };
  const pending = [edit as PendingEdit]; // Nothing else of it is looked at.
  const view = (...states: Proposal['state'][]) => ({
    ...EMPTY,
    session: session('s1'),
    messages: [
      {
        role: 'agent' as const,
        turn_id: null,
        seq: 1,
        at: '',
        parts: states.map(state => ({
          type: 'proposal' as const,
          call_id: null,
          proposal: proposal(state)
        }))
      }
    ]
  });

  test.each([
    [['applied'], [], 'p-applied'],
    [['dismissed', 'edited'], [], 'p-edited'],
    [['applied'], pending, null],
    [['applied', 'proposed'], [], null],
    [['undone'], [], null],
    [[], [], null]
  ] as const)('%j with %j is settled: %j', (states, edits, expected) => {
    expect(appliedIn(view(...states), edits)).toBe(expected);
  });

  test('is about the document of its thread as that is called now', () => {
    const renamed = { ...place, document: 'new.ipynb' };
    const proposed = proposal('proposed');
    expect(documentOf(proposed, renamed)).toBe('new.ipynb');
    expect(documentOf(proposed, null)).toBe('a.ipynb');
    const copied = { ...proposed, id: 'p1.s1' };
    expect(documentOf(copied, renamed)).toBe('a.ipynb');
  });

  test('awaits keep or undo while it is applied and pending', () => {
    expect(editOfProposal(proposal('applied'), pending)).toBe(pending[0]);
    expect(editOfProposal(proposal('undone'), pending)).toBeNull();
    expect(
      editOfProposal({ ...proposal('applied'), cell_id: 'c2' }, pending)
    ).toBeNull();
  });
});

describe('a difference by word', () => {
  const marked = (before: string, after: string): string[] =>
    diffWords(before, after).map(({ kind, text, words }) => {
      const parts = words.map(({ from, to }) => text.slice(from, to));
      return `${kind}:${text}${parts.map(part => `|${part}`).join('')}`;
    });

  test('marks the words that took the place of others', () => {
    expect(marked('a = load(1)\nb = 2', 'a = read(1)\nb = 2')).toEqual([
      'old:a = load(1)|load',
      'new:a = read(1)|read',
      'same:b = 2'
    ]);
  });

  test('marks each line of several for itself', () => {
    expect(marked('one = 1\ntwo = 2', 'one = 11\ntwo = 22')).toEqual([
      'old:one = 1|1',
      'old:two = 2|2',
      'new:one = 11|11',
      'new:two = 22|22'
    ]);
  });

  test('marks whole words', () => {
    expect(marked('f(numeric=True)', 'f(numerical=True, deep=1)')).toEqual([
      'old:f(numeric=True)|numeric',
      'new:f(numerical=True, deep=1)|numerical|, deep=1'
    ]);
  });

  test('marks no more than a part of what goes on for long without a space', () => {
    const data = 'x'.repeat(1000);
    const [old] = diffWords(`${data}1`, `${data}2`);
    expect(old?.words).toEqual([{ from: 800, to: 1001 }]);
  });

  test('marks nothing in lines that are new or gone as a whole', () => {
    expect(marked('a\n', 'a\nb\n')).toEqual(['same:a', 'new:b', 'same:']);
    expect(marked('a\nb', 'a')).toEqual(['same:a', 'old:b']);
  });
});
