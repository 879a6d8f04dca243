/** Conversations over a server and a socket in memory; used by their tests. */

import type { Event } from '../../wire/generated';
import { Conversations } from '../conversations/conversations';
import type { IStateStorage } from '../conversations/persistedState';
import { FakeServer, FakeSocket, settled } from './fakes';
import { fixture } from './reducerFixtures';

/** What is kept over a reload. */
export class Keeper implements IStateStorage {
  text: string | null = null;
  read(): string | null {
    return this.text;
  }
  write(text: string): void {
    this.text = text;
  }
}

/** The conversations of a page. */
export function open(keeper = new Keeper(), server = new FakeServer()) {
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

export const { events, expected } = fixture('streamed-text');

/** Events as another session has them. */
export const of = (id: string, list: readonly Event[]): Event[] =>
  list.map(event => ({ ...event, session_id: id }));

/** The conversations of a page that shows one that has begun. */
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
