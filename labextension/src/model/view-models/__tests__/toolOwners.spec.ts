/** Names of MCP tools and of connected programs. */

import { expect, test } from 'vitest';

import type { CallView, Session } from '../../../wire/generated';
import { readPhrases, readTargets } from '../groupedReads';
import { pathOf } from '../callTargets';
import { callTitle, clientOf, serverToolOf } from '../toolOwners';

test.each([
  ['read_file', null],
  ['mcp__files__read', { server: 'files', tool: 'read' }],
  ['mcp__my_server__a__b', { server: 'my_server', tool: 'a__b' }],
  ['mcp__alone', null]
])('%s belongs to its server', (name, owner) => {
  expect(serverToolOf(name)).toEqual(owner);
});

test.each([
  ['read_file', 'Read a.py', 'Read a.py'],
  ['mcp__files__read', 'Edit cell 3', 'files · read'],
  ['mcp__files__read', 'files · Read a file', 'files · Read a file']
])('%s with the title %s is shown as %s', (tool, title, shown) => {
  expect(callTitle({ tool, title })).toBe(shown);
});

test.each([
  [{ kind: 'agent', model: 'client:Claude Code' }, 'Claude Code'],
  [{ kind: 'agent', model: null }, ''],
  [{ kind: 'chat', model: 'client:x' }, null],
  [{ kind: 'chat', model: 'acme/big' }, null]
] as const)('%o is led by %s', (session, client) => {
  expect(clientOf(session as Pick<Session, 'kind' | 'model'>)).toBe(client);
});

const call = {
  call_id: 'c1',
  tool: 'mcp__files__read',
  title: 'read',
  target: null,
  arguments: { path: '/etc/passwd' },
  result: null
} as unknown as CallView; // The members that these rules read.

test('reads of a server are counted by their own phrase, and its paths are not ours', () => {
  const trans = {
    _n: (one: string, many: string, n: number) =>
      (n === 1 ? one : many).replace('%1', String(n))
  } as unknown as Parameters<typeof readPhrases>[1];
  expect(readPhrases([call, { ...call, call_id: 'c2' }], trans)).toEqual([
    'Called 2 server tools'
  ]);
  expect(readTargets([call])).toEqual(['files · read']);
  expect(pathOf(call)).toBeNull();
});
