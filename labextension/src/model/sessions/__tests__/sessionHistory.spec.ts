/** The history: filters, and commands on whole conversations. */

import { expect, test } from 'vitest';

import type { Session } from '../../../wire/generated';
import { Conversations } from '../../conversations/conversations';
import {
  FakeServer,
  FakeSocket,
  session,
  settled
} from '../../__tests__/fakes';

function open(sessions: Session[]) {
  const server = new FakeServer();
  server.sessionList = sessions;
  let count = 0;
  const conversations = new Conversations({
    http: server,
    socket: new FakeSocket(),
    storage: { read: () => null, write: () => {} },
    newId: () => `id-${count++}`,
    schedule: callback => callback()
  });
  const { history } = conversations;
  const found = (): string[] => history.found.map(({ id }) => id).sort();
  return { conversations, server, history, found };
}

const some = [
  session('chat', { title: 'Plot the prices' }),
  session('run', { kind: 'run', source: 'http', title: 'Plot by script' }),
  session('cli', { kind: 'run', source: 'cli' }),
  session('task', { kind: 'task', source: 'task' })
];

test.each([
  [{}, ['chat', 'cli', 'run', 'task']],
  [{ kind: 'run' }, ['cli', 'run']],
  [{ source: 'cli' }, ['cli']],
  [{ kind: 'run', source: 'http' }, ['run']],
  [{ kind: 'run', text: 'Plot' }, ['run']],
  [{ text: 'Plot' }, ['chat', 'run']],
  [{ kind: 'scheduled' }, []]
] as const)('history filtered by %j', async (query, expected) => {
  const { conversations, history, found } = open(some);
  await conversations.refresh();
  await history.find(query);
  expect(found()).toEqual(expected);
  await history.find({ text: '', kind: null, source: null });
  expect(found()).toEqual(['chat', 'cli', 'run', 'task']);
});

test('what was found stays until the server has answered the next question', async () => {
  const { history, found } = open(some);
  await history.find({ kind: 'run' });
  const asked = history.find({ kind: 'task' });
  expect(history.query.kind).toBe('task');
  expect(found()).toEqual(['cli', 'run']);
  await asked;
  expect(found()).toEqual(['task']);
});

test('an answer to an older question is passed over', async () => {
  const { history, found } = open(some);
  const first = history.find({ kind: 'run' });
  const second = history.find({ kind: 'task' });
  await second;
  await first;
  expect(found()).toEqual(['task']);
});

test('a page read again leaves the filter as it is', async () => {
  const { conversations, history, found } = open(some);
  await history.find({ kind: 'run' });
  await conversations.refresh();
  await settled();
  expect(found()).toEqual(['cli', 'run']);
});

test('a copy of a conversation is shown', async () => {
  const { conversations, server } = open(some);
  await conversations.fork('chat');
  expect(conversations.active.sessionId).toBe('fork-of-chat');
  await conversations.fork('chat', 7);
  expect(server.requests).toEqual([
    ['forkSession', 'chat', { seq: null }],
    ['forkSession', 'chat', { seq: 7 }]
  ]);
});

test('a conversation that is not open is exported', async () => {
  const { conversations, server } = open(some);
  expect(await conversations.exportAs('run', 'ipynb')).toBe(server.file);
  expect(server.requests).toEqual([['exportSession', 'run', 'ipynb']]);
});
