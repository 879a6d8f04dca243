import { describe, expect, test } from 'vitest';

import type { CallView, Conversation, MessageView } from '../../wire/generated';
import { EMPTY } from '../../model/reducer/emptyConversation';
import {
  addressOf,
  destinationOf,
  needsConfirmation,
  namesDestination
} from '../links';

const url = (href: string): URL => {
  const found = addressOf(href);
  if (found === null) {
    throw new Error(`${href} is no address`);
  }
  return found;
};

test.each(['javascript:1', 'data:text/html,x', 'file:///etc', '/api', '', 'x'])(
  '%s leads nowhere',
  href => {
    expect(addressOf(href)).toBeNull();
  }
);

test.each([
  ['https://docs.example:8080/a?b#c', 'docs.example:8080'],
  ['https://docs.example@evil.example/', 'evil.example'],
  ['https://аррӏе.example/', 'xn--80ak6aa92e.example'],
  ['mailto:a@b.example?subject=x', 'a@b.example']
])('%s leads to %s', (href, destination) => {
  expect(destinationOf(url(href))).toBe(destination);
});

test.each([
  ['https://docs.example/x', 'https://docs.example/x', true],
  ['docs.example', 'https://docs.example/x', true],
  ['docs.example/other', 'https://docs.example/x', true],
  ['a@b.example', 'mailto:a@b.example', true],
  ['docs', 'https://docs.example/x', false],
  ['https://docs.example', 'https://ample/', false],
  [
    'https://docs.example@evil.example',
    'https://docs.example@evil.example',
    false
  ],
  ['see https://evil.example', 'https://evil.example', false],
  ['https://evil.example/\u202egpj', 'https://evil.example/', false],
  ['http://docs.example:81', 'http://docs.example/', false]
])('%s says that it leads to %s: %s', (text, href, expected) => {
  expect(namesDestination(text, url(href))).toBe(expected);
});

const call = (tool: string): CallView =>
  ({ type: 'call', tool, state: 'ok' }) as CallView; // The members in use.

const user = (text: string): MessageView => ({
  role: 'user',
  message_id: 'm1',
  seq: 2,
  at: '',
  text,
  attachments: [],
  context: null
});

const view = (text: string, ...tools: string[]): Conversation => ({
  ...EMPTY,
  messages: [
    user(text),
    { role: 'agent', turn_id: 't', seq: 3, at: '', parts: tools.map(call) }
  ]
});

describe('a link is asked about', () => {
  test.each([
    ['https://docs.example/?q=1', false],
    [`https://docs.example/?q=${'x'.repeat(80)}`, true],
    [`https://docs.example/#${'x'.repeat(90)}`, true],
    [`https://docs.example/${'x/'.repeat(120)}`, true],
    [`https://${'x'.repeat(60)}.${'y'.repeat(30)}.example/`, true]
  ])('when it carries much: %s %s', (href, expected) => {
    expect(needsConfirmation(url(href), view('hello'))).toBe(expected);
  });

  test('when the agent has read something', () => {
    const href = url('https://docs.example/page');
    expect(needsConfirmation(href, view('hello'))).toBe(false);
    expect(needsConfirmation(href, view('hello', 'todo', 'clarify'))).toBe(
      false
    );
    expect(needsConfirmation(href, view('hello', 'read_file'))).toBe(true);
    expect(needsConfirmation(href, view('hello', 'run_cell'))).toBe(true);
  });

  test('unless the user wrote it', () => {
    const href = url('https://docs.example/page');
    for (const text of [
      'see https://docs.example/page.',
      'is (docs.example/page) good?',
      '<https://docs.example/page/>'
    ]) {
      expect(needsConfirmation(href, view(text, 'read_file')), text).toBe(
        false
      );
    }
    for (const text of [
      'see https://docs.example/page2',
      'https://docs.example/pag'
    ]) {
      expect(needsConfirmation(href, view(text, 'read_file')), text).toBe(true);
    }
  });
});
