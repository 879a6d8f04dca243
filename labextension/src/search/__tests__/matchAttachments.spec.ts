/** What is attached for a place. */

import { expect, test } from 'vitest';

import { cellWithText } from '../../text/quotedText';
import type { Attachment, SearchMatch } from '../../wire/generated';
import { attachmentsOf } from '../matchAttachments';
import { match } from './fixtures';

const TEXT = 'import os\n\nload data\nsave\n';

const selection: Attachment = {
  kind: 'selection',
  path: 'a.py',
  cell_id: null,
  range: { from: 11, to: 20 },
  text: 'load data',
  before: 'import os\n\n',
  after: '\nsave\n'
};
const file: Attachment = { kind: 'file', path: 'a.py' };
const cell: Attachment = { kind: 'cell', path: 'a.ipynb', cell_id: 'c1' };

test.each<[string, Partial<SearchMatch>, string | null, Attachment]>([
  ['lines of code', { line: 3 }, TEXT, selection],
  ['lines that are gone', { line: 9 }, TEXT, file],
  ['an unreadable file', {}, null, file],
  ['a document', { kind: 'document' }, TEXT, file],
  ['a cell', { kind: 'notebook', path: 'a.ipynb', cell_id: 'c1' }, TEXT, cell],
  [
    'an output',
    { kind: 'notebook', path: 'a.ipynb', cell_id: 'c1', is_output: true },
    TEXT,
    cell
  ],
  [
    'a conversation',
    {
      kind: 'conversation',
      path: '',
      conversation: { session_id: 'ses_1', message_id: null }
    },
    TEXT,
    { kind: 'thread', session_id: 'ses_1' }
  ]
])('%s', async (_, change, text, attachment) => {
  const attached = await attachmentsOf([match(change)], async () => {
    if (text === null) {
      throw new Error('not text');
    }
    return text;
  });
  expect(attached).toEqual([attachment]);
});

test('a file with several places is read once', async () => {
  const read: string[] = [];
  await attachmentsOf([match(), match({ line: 3 })], async path => {
    read.push(path);
    return TEXT;
  });
  expect(read).toEqual(['a.py']);
});

test.each<[string, string, number]>([
  ['its text', 'b = 2', 1],
  ['lines shortened at both ends', '…= 1\na…', 0],
  ['another indent', '  c', 1],
  ['text of no cell', 'd', -1],
  ['no text', ' \n', -1]
])('a cell is found by %s', (_, quote, index) => {
  expect(cellWithText(['a = 1\nab', 'b = 2\nc'], quote)).toBe(index);
});
