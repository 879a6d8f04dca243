/** `Conversations` on the fake server and socket, for specs. */

import type { Event } from '../../wire/generated';
import { Conversations } from '../conversations/conversations';
import type { IStateStorage } from '../conversations/persistedState';
import { FakeServer, FakeSocket, settled } from './fakes';
import { fixture } from './reducerFixtures';

/** State storage that survives a reload. */
export class Keeper implements IStateStorage {
  text: string | null = null;
  read(): string | null {
    return this.text;
  }
  write(text: string): void {
    this.text = text;
  }
}

/** Create the conversations of a page. */
export function open(storage = new Keeper(), server = new FakeServer()) {
  const socket = new FakeSocket();
  let count = 0;
  const conversations = new Conversations({
    http: server,
    socket,
    storage,
    newId: () => `id-${storage.text?.length ?? 0}-${count++}`,
    schedule: callback => callback()
  });
  return { conversations, server, socket, keeper: storage };
}

export const { events, expected } = fixture('streamed-text');

/** Return the events with the id of another session. */
export const of = (id: string, list: readonly Event[]): Event[] =>
  list.map(event => ({ ...event, session_id: id }));

/** Create the conversations of a page that shows a started session. */
export async function withLog() {
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
