import { describe, expect, test } from 'vitest';

import type { Event } from '../../wire/generated';
import { Conversations } from '../conversations';
import { EMPTY, reduceConversation } from '../reduce';
import type { IKeeper } from '../memory';
import { FakeServer, FakeSocket, problem, session, settled } from './fakes';
import { fixture } from './fixtures';

class Keeper implements IKeeper {
  text: string | null = null;
  read(): string | null {
    return this.text;
  }
  write(text: string): void {
    this.text = text;
  }
}

function open(keeper = new Keeper(), server = new FakeServer()) {
  const socket = new FakeSocket();
  let count = 0;
  const conversations = new Conversations({
    http: server,
    socket,
    keeper,
    newId: () => `id-${keeper.text?.length ?? 0}-${count++}`,
    schedule: callback => callback()
  });
  return { conversations, server, socket, keeper };
}

const { events, expected } = fixture('streamed-text');
const of = (id: string, list: readonly Event[]): Event[] =>
  list.map(event => ({ ...event, session_id: id }));

async function withLog() {
  const all = open();
  all.server.logs.set('s1', of('s1', events.slice(0, 5)));
  all.conversations.open('s1');
  const { key } = all.conversations.active;
  const store = all.conversations.store(key);
  await settled();
  if (store === null) {
    throw new Error('no store');
  }
  return { ...all, key, store };
}

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
    expect(server.asked.map(([, , after]) => after)).toEqual([0, 3, 6, 9, 12]);
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
      keeper: new Keeper(),
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

describe('sending', () => {
  test('the first message makes the session, later ones use it', async () => {
    const { conversations, server } = open();
    const { key } = conversations.active;
    await Promise.all([
      conversations.send(key, { text: 'one' }),
      conversations.send(key, { text: 'two' })
    ]);
    expect(server.asked.map(([name]) => name)).toEqual([
      'createSession',
      'sendMessage',
      'sendMessage'
    ]);
    expect(conversations.active.sessionId).toBe('made-0');
  });

  test('a message is shown until the log has it', async () => {
    const { conversations, key, socket, server } = await withLog();
    await conversations.send(key, { text: 'more' });
    const [sent] = conversations.outbox(key);
    expect(sent?.error).toBeNull();
    const last = server.asked.at(-1);
    expect(last?.slice(0, 2)).toEqual(['sendMessage', 's1']);
    const added = {
      ...(events[1] as Event & { type: 'message-add' }), // the fixture's message
      message_id: sent?.body.id ?? '',
      seq: 6
    };
    socket.deliver(of('s1', [added]));
    expect(conversations.outbox(key)).toEqual([]);
  });

  test('a message that did not get through is kept and sent again under its id', async () => {
    const { conversations, key, server } = await withLog();
    server.fail({ message: 'Unplugged.' });
    await conversations.send(key, { text: 'more' });
    const [failed] = conversations.outbox(key);
    expect(failed?.error?.message).toBe('Unplugged.');
    await conversations.sendAgain(key, failed?.body.id ?? '');
    expect(server.asked.at(-1)?.[2]).toEqual(failed?.body);
    expect(conversations.outbox(key)[0]?.error).toBeNull();
  });

  test('the chosen model and mode go with it, and with the next conversation', async () => {
    const { conversations, key, server } = await withLog();
    conversations.setModel(key, 'other/model');
    conversations.setMode(key, 'auto_edit');
    await conversations.send(key, { text: 'more' });
    const chosen = { model: 'other/model', mode: 'auto_edit' };
    expect(server.asked.at(-1)?.[2]).toMatchObject(chosen);
    conversations.create();
    const fresh = conversations.active.key;
    expect(conversations.model(fresh)).toBe('other/model');
    expect(conversations.mode(fresh)).toBe('auto_edit');
  });
});

test('a new conversation takes the model of the settings before the one chosen last', async () => {
  const { conversations, key, server, socket } = await withLog();
  await conversations.refresh();
  conversations.setModel(key, 'other/model');
  server.modelList = {
    ...server.modelList,
    default: 'set/model',
    default_set: true
  };
  socket.frameReceived.emit({ type: 'settings-update', part: 'settings' });
  await settled();
  conversations.create();
  expect(conversations.model(conversations.active.key)).toBe('set/model');
  expect(conversations.model(key)).toBe('other/model');
});

describe('over a reload', () => {
  test('open conversations, drafts and unsent messages come back', async () => {
    const { conversations, keeper, key, server } = await withLog();
    conversations.setDraft(key, 'half a thou');
    server.fail();
    await conversations.send(key, { text: 'lost?' });
    const again = open(keeper);
    expect(again.conversations.tabs).toEqual(conversations.tabs);
    expect(again.conversations.active.sessionId).toBe('s1');
    expect(again.conversations.draft(key)).toBe('half a thou');
    const [unsent] = again.conversations.outbox(key);
    expect(unsent?.body.text).toBe('lost?');
    expect(unsent?.error?.message).toContain('closed before');
    expect(again.server.asked).toEqual([]); // Nothing is loaded before it is shown.
  });

  test.each(['', 'nonsense', '{"version": 9}', '{"version": 1}', '[]', 'null'])(
    'what cannot be understood is forgotten: %j',
    text => {
      const keeper = new Keeper();
      keeper.text = text;
      const { conversations } = open(keeper);
      expect(conversations.tabs).toHaveLength(1);
      expect(conversations.active.sessionId).toBeNull();
    }
  );
});

describe('the edit of a sent message', () => {
  test('is kept while it lasts, over a reload and a closed tab', async () => {
    const { conversations, key, keeper } = await withLog();
    let told = 0;
    conversations.changed.connect(() => told++);
    conversations.setEdit(key, 'm1', 'as it was');
    expect(told).toBe(1);
    conversations.setEdit(key, 'm1', 'bett');
    conversations.setEdit(key, 'm1', 'better');
    expect(told).toBe(1); // Who types draws what is typed.
    const again = open(keeper).conversations;
    expect(again.edit(key, 'm1')).toBe('better');
    expect(again.edit(key, 'm2')).toBeNull();
    conversations.close(key);
    conversations.open('s1');
    expect(conversations.edit(conversations.active.key, 'm1')).toBe('better');
    conversations.setEdit(key, 'm1', null);
    expect(conversations.edit(key, 'm1')).toBeNull();
    expect(open(keeper).conversations.edit(key, 'm1')).toBeNull();
  });
});

describe('closing a tab', () => {
  test('keeps what was written in it until the conversation is shown again', async () => {
    const { conversations, key, server, keeper } = await withLog();
    const cell = { kind: 'cell', path: 'a.ipynb', cell_id: 'c1' } as const;
    conversations.setDraft(key, 'half a thou');
    conversations.attach(key, cell);
    server.fail({ message: 'Unplugged.' });
    await conversations.send(key, { text: 'lost?' });
    conversations.close(key);
    expect(conversations.tabs.some(tab => tab.key === key)).toBe(false);
    expect(conversations.hasUnsent('s1')).toBe(true);
    const again = open(keeper).conversations; // After a reload, too.
    for (const page of [conversations, again]) {
      page.open('s1');
      expect(page.active).toEqual({ key, sessionId: 's1' });
      expect(page.draft(key)).toBe('half a thou');
      expect(page.attachments(key)).toEqual([cell]);
      expect(page.outbox(key).map(({ body }) => body.text)).toEqual(['lost?']);
      expect(page.hasUnsent('s1')).toBe(false);
    }
  });

  test('forgets it when nothing was written', async () => {
    const { conversations, key, keeper } = await withLog();
    conversations.setModel(key, 'other/model');
    conversations.close(key);
    expect(conversations.hasUnsent('s1')).toBe(false);
    expect(JSON.parse(keeper.text ?? '')).toMatchObject({ aside: [] });
    conversations.open('s1');
    expect(conversations.active.key).not.toBe(key);
  });

  test('keeps the draft of a conversation that had not begun for the next new one', () => {
    const { conversations } = open();
    const { key } = conversations.active;
    conversations.setDraft(key, 'a question');
    conversations.close(key);
    const { key: fresh } = conversations.active;
    expect(conversations.draft(fresh)).toBe('');
    conversations.create();
    expect(conversations.tabs).toEqual([{ key, sessionId: null }]);
    expect(conversations.draft(key)).toBe('a question');
  });

  test('leaves a new conversation in which something is written as it is', () => {
    const { conversations } = open();
    const { key: first } = conversations.active;
    conversations.setDraft(first, 'a question');
    conversations.close(first);
    const { key: second } = conversations.active;
    conversations.setDraft(second, 'another');
    conversations.create();
    expect(conversations.tabs.map(({ key }) => key)).toEqual([second]);
    conversations.close(second);
    conversations.create(); // The one that was closed last comes first.
    expect(conversations.draft(conversations.active.key)).toBe('another');
  });

  test('sends what was on its way, to the conversation it was written in', async () => {
    const { conversations, server } = open();
    const { key } = conversations.active;
    const sending = conversations.send(key, { text: 'one' });
    conversations.close(key);
    await sending;
    expect(server.asked.map(([name, id]) => [name, id])).toEqual([
      ['createSession', expect.anything()],
      ['sendMessage', 'made-0']
    ]);
    expect(conversations.hasUnsent('made-0')).toBe(false);
    conversations.open('made-0');
    expect(conversations.outbox(conversations.active.key)).toEqual([]);
  });

  test('keeps a message that could not be sent with its conversation', async () => {
    const { conversations, server } = open();
    const { key } = conversations.active;
    const sending = conversations.send(key, { text: 'one' });
    conversations.close(key);
    await Promise.resolve(); // The session is made; the message fails.
    server.fail({ message: 'Unplugged.' });
    await sending;
    expect(conversations.hasUnsent('made-0')).toBe(true);
    conversations.open('made-0');
    await conversations.sendAgain(
      key,
      conversations.outbox(key)[0]?.body.id ?? ''
    );
    expect(server.asked.at(-1)?.slice(0, 2)).toEqual(['sendMessage', 'made-0']);
  });

  test('keeps the latest fifty', () => {
    const { conversations } = open();
    for (let count = 0; count < 51; count++) {
      conversations.open(`s${count}`);
      conversations.setDraft(conversations.active.key, `draft ${count}`);
      conversations.close(conversations.active.key);
    }
    expect(conversations.hasUnsent('s0')).toBe(false);
    expect(conversations.hasUnsent('s1')).toBe(true);
    conversations.open('s50');
    expect(conversations.draft(conversations.active.key)).toBe('draft 50');
  });
});

describe('history', () => {
  test('is read, and kept current by the socket', async () => {
    const { conversations, server, socket } = open();
    server.sessionList = [session('a'), session('b')];
    await conversations.refresh();
    await settled();
    const news = session('a', {
      title: 'New title',
      updated_at: '2026-11-22T09:00:00Z'
    });
    const update: Event = {
      type: 'session-update',
      quiet: false,
      seq: 9,
      session_id: 'a',
      turn_id: null,
      at: '',
      session: news
    };
    socket.deliver([update]);
    expect(conversations.history.found.map(({ title }) => title)).toEqual([
      'New title',
      'Title of b'
    ]);
    socket.deliver([
      { ...update, session: session('task', { kind: 'task' }), seq: 1 }
    ]);
    expect(conversations.history.found).toHaveLength(3);
  });

  test('is searched on the server', async () => {
    const { conversations, server } = open();
    server.sessionList = [session('a'), session('b', { title: 'plots' })];
    await conversations.history.find({ text: 'plot' });
    expect(conversations.history.found.map(({ id }) => id)).toEqual(['b']);
    await conversations.history.find({ text: '' });
    expect(conversations.history.found).toHaveLength(2);
  });

  test('a deleted conversation leaves the list and its tab', async () => {
    const { conversations, key, server, socket } = await withLog();
    await conversations.remove('s1');
    expect(server.asked.at(-1)).toEqual(['deleteSession', 's1']);
    expect(conversations.tabs.some(tab => tab.key === key)).toBe(false);
    expect(socket.subscriptions.has('s1')).toBe(false);
  });

  test('a rename shows at once', async () => {
    const { conversations, server } = open();
    server.sessionList = [session('a')];
    await conversations.history.find({ text: '' });
    await conversations.rename('a', 'Better');
    expect(conversations.history.get('a')?.title).toBe('Better');
  });
});

test('what the user decides goes to the session of the tab', async () => {
  const { conversations, key, server } = await withLog();
  const { commands } = conversations;
  await commands.cancel(key);
  await commands.resume(key, { decision: 'resume', limit_micro_usd: 7 });
  await commands.answerApproval(key, 'k1', { decision: 'allow' });
  await commands.answerQuestion(key, 'k2', ['one']);
  await commands.answerQuestion(key, 'k2', ['one', 'two']);
  await commands.supplyResult(key, 'k3', { content: 'x', ok: false });
  await conversations.decide('q1', { decision: 'apply' });
  await commands.editQueued(key, 'm2', 'changed');
  await commands.removeQueued(key, 'm2');
  await commands.artifact(key, 'plot.png');
  await commands.exportAs(key, 'md');
  expect(server.asked.slice(1)).toEqual([
    ['cancel', 's1'],
    ['resume', 's1', { decision: 'resume', limit_micro_usd: 7 }],
    ['answerApproval', 's1', 'k1', { decision: 'allow' }],
    ['answerQuestion', 's1', 'k2', { answer: 'one' }],
    ['answerQuestion', 's1', 'k2', { answer: ['one', 'two'] }],
    ['supplyResult', 's1', 'k3', { content: 'x', ok: false }],
    ['decideProposal', 'q1', { decision: 'apply' }],
    ['editMessage', 's1', 'm2', 'changed'],
    ['removeMessage', 's1', 'm2'],
    ['artifact', 's1', 'plot.png'],
    ['exportSession', 's1', 'md']
  ]);
});
