/** Mentions, command parsing, and message context. */

import { describe, expect, test } from 'vitest';

import type { IEditorContext } from '../../../../host/chatHost';
import {
  bestOf,
  chooseMentions,
  rankOf,
  replaceToken,
  tokenAt,
  type IMention,
  type MentionKind
} from '../mentions';
import { messageContextOf, type ContextPiece } from '../../editorContext';
import { chosenBy, findCommands, parseCommand } from '../slashCommands';

const mention = (kind: MentionKind, label: string, note = ''): IMention => ({
  kind,
  label,
  note,
  text: `@${label}`,
  attachment: { kind: 'file', path: `${kind}/${label}` }
});
const labels = (mentions: readonly IMention[]) =>
  mentions.map(({ label }) => label);

describe('the word at the caret', () => {
  test.each([
    ['see @da', 7, { trigger: '@', from: 4, to: 7, query: 'da' }],
    ['@', 1, { trigger: '@', from: 0, to: 1, query: '' }],
    ['(@x', 3, { trigger: '@', from: 1, to: 3, query: 'x' }],
    ['line\n@x', 7, { trigger: '@', from: 5, to: 7, query: 'x' }],
    ['me@home.org', 11, null],
    ['@da done', 8, null],
    ['@da done', 3, { trigger: '@', from: 0, to: 3, query: 'da' }],
    ['/mo', 3, { trigger: '/', from: 0, to: 3, query: 'mo' }],
    ['see /mo', 7, null],
    ['/mo del', 7, null],
    ['', 0, null]
  ])('of %j at %d', (text, caret, token) => {
    expect(tokenAt(text, caret)).toEqual(token);
  });

  test('is replaced by what was chosen, with one blank behind it', () => {
    const token = { trigger: '@', from: 4, to: 7, query: 'da' } as const;
    expect(replaceToken('see @da', token, '@data')).toEqual({
      text: 'see @data ',
      caret: 10
    });
    expect(replaceToken('see @da now', token, '@data').text).toBe(
      'see @data now'
    );
  });
});

describe('matching', () => {
  test('knows no case and no blanks, and wants the letters in order', () => {
    expect(rankOf('BIKE AN', 'bike analysis')).toEqual([1, 0]);
    expect(rankOf('zb', 'bz')).toBeNull();
  });

  test('prefers the whole name, its beginning, its middle, then letters close together', () => {
    const names = ['x a b c', 'xxabc', 'abcdef', 'abc', 'axbxc'];
    expect(bestOf('abc', names, name => [name, ''])).toEqual([
      'abc',
      'abcdef',
      'x a b c',
      'xxabc',
      'axbxc'
    ]);
  });

  test('finds what only the note says, behind the others', () => {
    const found = bestOf(
      'csv',
      [
        ['plot', 'read_csv'],
        ['csv', '']
      ],
      ([a, b]) => [a ?? '', b ?? '']
    );
    expect(found.map(([name]) => name)).toEqual(['csv', 'plot']);
  });
});

describe('what is offered', () => {
  test('is a few of each kind while nothing is written', () => {
    const cells = [1, 2, 3, 4, 5, 6].map(n => mention('cell', `Cell ${n}`));
    const files = [mention('file', 'a.csv')];
    expect(labels(chooseMentions('', cells, files))).toEqual([
      'Cell 1',
      'Cell 2',
      'Cell 3',
      'Cell 4',
      'a.csv'
    ]);
  });

  test('begins with the kind that matches best, and has nothing twice', () => {
    const known = [
      mention('cell', 'Cell 1', 'pd.read_csv'),
      mention('file', 'read.md')
    ];
    const found = [mention('file', 'read.md'), mention('file', 'thread.txt')];
    expect(labels(chooseMentions('read', known, found))).toEqual([
      'read.md',
      'thread.txt',
      'Cell 1'
    ]);
  });
});

describe('a command', () => {
  const commands = ['model', 'clear', 'compute'].map(name => ({
    name,
    title: '',
    run: () => {}
  }));

  test.each([
    ['/model fast', { name: 'model', argument: 'fast' }],
    [' /Plan ', { name: 'plan', argument: '' }],
    ['/plan two\nlines', { name: 'plan', argument: 'two\nlines' }],
    ['/usr/lib', null],
    ['model', null]
  ])('in %j', (text, line) => {
    expect(parseCommand(text)).toEqual(line);
  });

  test('is found by its letters', () => {
    const found = findCommands('c', commands).map(({ name }) => name);
    expect(found).toEqual(['clear', 'compute']);
    expect(findCommands('mdl', commands).map(({ name }) => name)).toEqual([
      'model'
    ]);
  });

  test('takes the choice that fits best', () => {
    const choices = ['a/haiku', 'a/opus'].map(value => ({
      value,
      title: value.slice(2),
      note: ''
    }));
    expect(chosenBy('a/opus', choices)?.value).toBe('a/opus');
    expect(chosenBy('hai', choices)?.value).toBe('a/haiku');
    expect(chosenBy('zzz', choices)).toBeUndefined();
  });
});

describe('the context of a message', () => {
  const situation: IEditorContext = {
    document: 'a.ipynb',
    cell: { id: 'c1', number: 1, hasError: false },
    selection: { cell_id: 'c1', range: { from: 0, to: 1 }, text: 'x' },
    openDocuments: ['a.ipynb', 'b.py']
  };
  const without = (...left: ContextPiece[]) =>
    messageContextOf(situation, new Set(left));

  test('is everything, without what was left out', () => {
    expect(without()).toEqual({
      active_document: 'a.ipynb',
      active_cell_id: 'c1',
      selection: situation.selection,
      open_documents: ['a.ipynb', 'b.py']
    });
    expect(without('cell', 'open')).toEqual({
      active_document: 'a.ipynb',
      active_cell_id: null,
      selection: situation.selection,
      open_documents: ['a.ipynb']
    });
    expect(without('document')).toEqual({
      active_document: null,
      active_cell_id: null,
      selection: null,
      open_documents: ['b.py']
    });
    expect(without('document', 'open')).toBeNull();
  });
});
