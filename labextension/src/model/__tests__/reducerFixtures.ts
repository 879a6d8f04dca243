// / <reference types="vite/client" />
/** The reducer fixtures shared with the server, for specs. */

import type { Conversation, Event } from '../../wire/generated';

export interface IFixture {
  name: string;
  events: Event[];
  expected: Conversation;
}

const files = import.meta.glob<IFixture>(
  '../../../../tests/wire/fixtures/reducer/*.json',
  { eager: true, import: 'default' }
);

/** All fixtures by file name. */
export const fixtures = new Map(
  Object.entries(files).map(([path, fixture]) => [
    path.replace(/^.*\/|\.json$/g, ''),
    fixture
  ])
);

/** Return a fixture; throws when it does not exist. */
export function fixture(name: string): IFixture {
  const found = fixtures.get(name);
  if (found === undefined) {
    throw new Error(`No fixture ${name}`);
  }
  return found;
}
