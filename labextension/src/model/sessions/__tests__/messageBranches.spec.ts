import { expect, test } from 'vitest';

import type { MessageView } from '../../../wire/generated';
import {
  withoutReplaced,
  endOf,
  headsOf,
  conversationShowing,
  versionsOf,
  type IEarlierConversation
} from '../messageBranches';
import { problem } from '../../__tests__/fakes';

const said = (seq: number): MessageView => ({
  role: 'user',
  message_id: `m${seq}`,
  seq,
  at: '',
  text: `message ${seq}`,
  attachments: [],
  context: null
});

const answer = (seq: number): MessageView => ({
  role: 'agent',
  turn_id: `t${seq}`,
  seq,
  at: '',
  parts: []
});

/** A conversation left at `seq`, where the message with version `first` was replaced. */
const left = (
  first: number,
  seq: number,
  ...messages: MessageView[]
): IEarlierConversation => ({
  branch: {
    message_id: `m${first}`,
    first_seq: first,
    last_seq: seq - 1,
    seq,
    at: ''
  },
  messages
});

// First message (2), answer (3), a second message (6), edited (10); then the first message edited (14).
const FIRST = left(6, 10, said(2), answer(3), said(6), answer(7));
const SECOND = left(2, 14, said(2), answer(3), said(10), answer(11));
const PAST = [FIRST, SECOND];
const NOW = [said(14), answer(15)];

test('versions are what followed the same message', () => {
  const versions = versionsOf(PAST, headsOf(NOW));
  expect([...versions]).toEqual([
    [2, [2, 14]],
    [14, [2, 14]],
    [6, [6, 10]],
    [10, [6, 10]]
  ]);
  expect(versionsOf([], headsOf(NOW)).size).toBe(0);
});

test('a version is looked at in the last conversation that has it', () => {
  expect(conversationShowing(14, PAST, NOW)).toBeNull();
  expect(conversationShowing(2, PAST, NOW)).toBe(SECOND);
  expect(conversationShowing(10, PAST, NOW)).toBe(SECOND);
  expect(conversationShowing(6, PAST, NOW)).toBe(FIRST);
  expect(conversationShowing(99, PAST, NOW)).toBeNull();
});

test('a fork begins where the first thing followed', () => {
  expect(endOf(3, PAST, NOW)).toBe(5);
  expect(endOf(11, PAST, NOW)).toBe(13);
  expect(endOf(15, PAST, NOW)).toBeNull();
  expect(endOf(null, PAST, NOW)).toBe(1);
});

test('what an edit on its way replaces is not shown, unless the edit failed', () => {
  const body = { id: 'new', text: 'x', replaces: 'm14' };
  expect(withoutReplaced(NOW, [{ body, error: null }])).toEqual([]);
  expect(withoutReplaced(NOW, [{ body, error: problem }])).toBe(NOW);
  expect(withoutReplaced(NOW, [])).toBe(NOW);
});
