/** One request at a time, and the latest text wins; search by meaning follows in a pause. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { FakeSocket, settled } from '../../model/__tests__/fakes';
import type { MeaningStatus, SearchResults } from '../../wire/generated';
import { PAUSE_MS, SearchStore } from '../searchStore';
import { answer, INDEX, match, MEANING } from './fixtures';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A store whose searches are answered by the test, in the order they were asked. */
function scene(meaning: MeaningStatus | null = null) {
  const asked: string[] = [];
  const open: ((results: SearchResults) => void)[] = [];
  const server = { meaning, statusRequests: 0 };
  const store = new SearchStore({
    search: (query, by) => {
      asked.push(by === 'both' ? `${query} by both` : query);
      return new Promise(resolve => open.push(resolve));
    },
    status: async () => {
      server.statusRequests++;
      return { ...INDEX, meaning: server.meaning };
    }
  });
  const reply = async (results = answer(match())): Promise<void> => {
    open.shift()?.(results);
    await settled();
  };
  const pause = (ms = PAUSE_MS): void => void vi.advanceTimersByTime(ms);
  return { asked, store, server, reply, pause };
}

test('one request is in flight, and the latest text is sent next', async () => {
  const { asked, store, reply } = scene();
  ['a', 'ab', 'abc'].forEach(query => store.type(query));
  expect(asked).toEqual(['a']);
  await reply();
  expect(store.state.answer?.query).toBe('a');
  expect(asked).toEqual(['a', 'abc']);
  const done = store.settled();
  await reply();
  await done;
  expect(store.state.answer?.query).toBe('abc');
  expect(asked).toHaveLength(2);
});

test('an empty field asks nothing', async () => {
  const { asked, store, reply } = scene();
  store.type('a');
  store.type('ab');
  store.type('');
  await reply();
  expect(asked).toEqual(['a']);
  expect(store.state.answer).toBeNull();
});

test('a change of the index repeats the search while files are missing', async () => {
  const { asked, store, reply } = scene();
  const socket = new FakeSocket();
  const following = store.follow(socket.frameReceived);
  const changed = async (): Promise<void> => {
    socket.frameReceived.emit({ type: 'settings-update', part: 'search' });
    await settled();
  };
  store.type('a');
  await reply({ ...answer(), index: { state: 'building', behind: 3 } });
  await changed();
  expect(asked).toEqual(['a', 'a']);
  await reply();
  await changed();
  following.dispose();
  expect(asked).toHaveLength(2);
});

test('a pause in typing searches by meaning once', async () => {
  const { asked, store, reply, pause } = scene();
  store.type('read');
  await reply();
  pause(PAUSE_MS - 1);
  store.type('read table');
  await reply();
  pause(PAUSE_MS - 1);
  expect(asked).toEqual(['read', 'read table']);
  pause(1);
  await reply(answer(match({ line: 7, matched_by: 'meaning' })));
  pause();
  expect(asked).toEqual(['read', 'read table', 'read table by both']);
  expect(store.state.matches.map(({ line }) => line)).toEqual([7]);
});

test('the next letter does not wait for the search by meaning, nor does Enter', async () => {
  const { asked, store, reply, pause } = scene();
  store.type('read');
  await reply();
  pause();
  store.type('reads');
  expect(asked).toEqual(['read', 'read by both', 'reads']);
  await reply(answer(match({ line: 7 }))); // By both, to the earlier text.
  await reply(answer(match({ line: 8 })));
  await store.settled();
  expect(store.state.matches.map(({ line }) => line)).toEqual([8]);
});

test('a repeated search asks by both at once if that was answered', async () => {
  const { asked, store, reply, pause } = scene();
  store.type('read');
  await reply();
  pause();
  await reply();
  store.refresh();
  expect(asked).toEqual(['read', 'read by both', 'read by both']);
});

test('without a model nothing is searched by meaning until there is one', async () => {
  const { asked, server, store, reply, pause } = scene();
  const socket = new FakeSocket();
  const following = store.follow(socket.frameReceived);
  const changed = async (): Promise<void> => {
    socket.frameReceived.emit({ type: 'settings-update', part: 'search' });
    await settled();
  };
  store.loadSetup();
  await settled();
  store.type('read');
  await reply();
  pause();
  expect(asked).toEqual(['read']);

  server.meaning = MEANING;
  await changed();
  pause();
  expect(asked).toEqual(['read', 'read by both']);
  await changed();
  expect(server.statusRequests).toBe(2);
  following.dispose();
});

test('closing it before the pause ends sends nothing', async () => {
  const { asked, store, reply, pause } = scene();
  const following = store.follow(new FakeSocket().frameReceived);
  store.type('read');
  await reply();
  following.dispose();
  pause();
  expect(asked).toEqual(['read']);
});
