/** One request at a time, and the latest text wins. */

import { expect, test } from 'vitest';

import { FakeSocket, settled } from '../../model/__tests__/fakes';
import type { SearchResults } from '../../wire/generated';
import { SearchStore } from '../searchStore';
import { answer, match } from './fixtures';

/** A store whose requests are answered by the test. */
function scene() {
  const asked: string[] = [];
  const open: ((results: SearchResults) => void)[] = [];
  const store = new SearchStore(query => {
    asked.push(query);
    return new Promise(resolve => open.push(resolve));
  });
  const reply = async (results = answer(match())): Promise<void> => {
    open.shift()?.(results);
    await settled();
  };
  return { asked, store, reply };
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
