import { describe, expect, test } from 'vitest';

import type { Event } from '../../../wire/generated';
import { EMPTY, reduceConversation } from '../conversation';
import { fixture, fixtures } from '../../__tests__/reducerFixtures';

const fold = (events: readonly Event[], state = EMPTY) =>
  events.reduce(reduceConversation, state);

describe('the fold of the log', () => {
  test('has fixtures', () => {
    expect(fixtures.size).toBeGreaterThanOrEqual(8);
  });

  test.each([...fixtures])('%s', (_, { events, expected }) => {
    expect(fold(events)).toEqual(expected);
  });

  test.each([...fixtures])(
    '%s, cut anywhere and resumed with overlap',
    (_, { events, expected }) => {
      for (let cut = 0; cut <= events.length; cut++) {
        const before = fold(events.slice(0, cut));
        expect(fold(events.slice(Math.max(0, cut - 2)), before)).toEqual(
          expected
        );
      }
    }
  );

  test('leaves untouched messages as they were, so that their views need not render', () => {
    const { events } = fixture('queued-messages');
    const before = fold(events.slice(0, -1));
    const after = fold(events.slice(-1), before);
    before.messages.slice(0, -1).forEach((message, index) => {
      expect(after.messages[index]).toBe(message);
    });
  });

  test('an event of a newer server is passed over', () => {
    const event = { ...fixture('streamed-text').events[0], type: 'new-thing' };
    const state = reduceConversation(EMPTY, event as unknown as Event); // what a newer server may send
    expect(state).toEqual({ ...EMPTY, last_seq: 1 });
  });
});
