/** Conversations: sending, state kept across reloads, history, decisions of the user. */

import { describe, expect, test } from 'vitest';

import type { Event } from '../../../wire/generated';
import { model, session, settled } from '../../__tests__/fakes';
import {
  events,
  Keeper,
  of,
  open,
  withLog
} from '../../__tests__/inMemoryConversations';

describe('sending', () => {
  test('the first message makes the session, later ones use it', async () => {
    const { conversations, server } = open();
    const { key } = conversations.active;
    await Promise.all([
      conversations.send(key, { text: 'one' }),
      conversations.send(key, { text: 'two' })
    ]);
    expect(server.requests.map(([name]) => name)).toEqual([
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
    const last = server.requests.at(-1);
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
    await conversations.retrySend(key, failed?.body.id ?? '');
    expect(server.requests.at(-1)?.[2]).toEqual(failed?.body);
    expect(conversations.outbox(key)[0]?.error).toBeNull();
  });

  test('the chosen model and mode go with it, and with the next conversation', async () => {
    const { conversations, key, server } = await withLog();
    conversations.setModel(key, 'other/model');
    conversations.setMode(key, 'auto_edit');
    await conversations.send(key, { text: 'more' });
    const chosen = { model: 'other/model', mode: 'auto_edit' };
    expect(server.requests.at(-1)?.[2]).toMatchObject(chosen);
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

test.each([
  ['a stand-in is shown, and left to the server', true, null],
  ['another default is named', false, 'demo/demo']
])('%s', async (_, isStandIn, named) => {
  const { conversations, server } = await withLog();
  server.modelList = { ...server.modelList, default_is_stand_in: isStandIn };
  await conversations.refresh();
  conversations.create();
  const fresh = conversations.active.key;
  expect(conversations.model(fresh)).toBe('demo/demo');
  await conversations.send(fresh, { text: 'hi' });
  const bodies = server.requests.slice(-2).map(([, , body]) => body);
  expect(server.requests.at(-1)?.[2]).toMatchObject({ model: named });
  expect(JSON.stringify(bodies)).toContain(`"model":${JSON.stringify(named)}`);
  conversations.setModel(fresh, 'demo/demo');
  await conversations.send(fresh, { text: 'more' });
  expect(server.requests.at(-1)?.[2]).toMatchObject({ model: 'demo/demo' });
});

test('a model chosen last that cannot be used is not taken again', async () => {
  const { conversations, key, server } = await withLog();
  conversations.setModel(key, 'other/model');
  server.modelList = {
    ...server.modelList,
    models: [
      model('demo/demo'),
      { ...model('other/model'), available: false, unavailable_reason: 'Far.' }
    ]
  };
  await conversations.refresh();
  conversations.create();
  expect(conversations.model(conversations.active.key)).toBe('demo/demo');
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
    expect(again.server.requests).toEqual([]); // Nothing is loaded before it is shown.
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
    expect(server.requests.at(-1)).toEqual(['deleteSession', 's1']);
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
  expect(server.requests.slice(1)).toEqual([
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
