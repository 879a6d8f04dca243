import type { TranslationBundle } from '@jupyterlab/translation';
import { describe, expect, test } from 'vitest';

import type { CallView } from '../../../wire/generated';
import { languageOf, reachOf } from '../approvals';
import { toolIcon } from '../conversationItems';
import { readPhrases, readTargets } from '../groupedReads';

// The members used here.
const trans = {
  _n: (one: string, many: string, n: number) =>
    (n === 1 ? one : many).replace('%1', String(n))
} as unknown as TranslationBundle;

const read = (tool: string, path?: string): CallView => ({
  type: 'call',
  call_id: `${tool} ${path ?? ''}`,
  tool,
  arguments: path === undefined ? {} : { path },
  raw: null,
  invalid: null,
  risk: 'read',
  external: false,
  title: 'Look',
  target: path ?? null,
  state: 'ok',
  approval: null,
  answer: null,
  progress: [],
  result: null,
  content: [],
  duration_ms: 1,
  handle: null
});

describe('consecutive reads', () => {
  test('say how many of what, a file read piece by piece once', () => {
    const files = ['a.py', 'b.py', 'a.py'].map(path => read('read_file', path));
    expect(readPhrases(files, trans)).toEqual(['Read 2 files']);
    expect(readTargets(files)).toEqual(['a.py', 'b.py']);
    const mixed = [
      read('search_content'),
      read('read_file', 'a.py'),
      read('search_notebook'),
      read('list_files', ''),
      read('read_notebook', 'a.ipynb'),
      read('read_cell_output', 'a.ipynb'),
      read('inspect_variables'),
      read('git_status')
    ];
    expect(readPhrases(mixed, trans)).toEqual([
      'Searched 2 times',
      'Read 1 file',
      'Listed 1 folder',
      'Read 1 notebook',
      'Read 1 output',
      'Looked at variables',
      'Looked at 1 item'
    ]);
  });
});

describe('the pictures of calls', () => {
  test.each([
    ['read_file', 'eye'],
    ['edit_cell', 'pencil'],
    ['propose_edit', 'pencil'],
    ['create_proposal', 'pencil'],
    ['create_file', 'file-add'],
    ['add_cell', 'file-add'],
    ['list_files', 'folder'],
    ['list_kernels', 'eye'],
    ['run_command', 'terminal'],
    ['search_content', 'search'],
    ['run_cell', 'run'],
    ['cite_paper', 'book'],
    ['search_papers', 'book'],
    ['web_search', 'search'],
    ['fetch_url', 'link'],
    ['something_new', 'tool']
  ])('%s is drawn as %s', (tool, icon) => {
    expect(toolIcon(tool)).toBe(icon);
  });
});

describe('an approval', () => {
  test('says what it allows from then on', () => {
    const cell = { path: 'a.ipynb', cell_id: 'c1' };
    const path = { kind: 'path', of: 'a.ipynb' };
    expect(reachOf('once', cell, null)).toEqual({ kind: 'once' });
    expect(reachOf('document', cell, null)).toEqual(path);
    expect(reachOf('session', cell, null)).toEqual({ kind: 'tool' });
    expect(reachOf('always', cell, null)).toEqual(path);
    const page = { url: 'https://a.example/x?y' };
    expect(reachOf('session', page, null)).toEqual({
      kind: 'domain',
      of: 'a.example'
    });
    expect(reachOf('always', { url: 'nonsense' }, null)).toEqual({
      kind: 'tool'
    });
  });

  test('takes from the server which commands it allows', () => {
    const diff = { command: 'git diff HEAD' };
    expect(
      reachOf('session', diff, { command: 'git diff', exact: false })
    ).toEqual({ kind: 'command', of: 'git diff', exact: false });
    const script = { command: 'python bin/x.py' };
    expect(
      reachOf('always', script, { command: script.command, exact: true })
    ).toEqual({ kind: 'command', of: script.command, exact: true });
    // Written by an earlier version.
    expect(reachOf('always', script, null)).toEqual({
      kind: 'command',
      of: script.command,
      exact: true
    });
  });

  test.each([
    ['source', { path: 'a.ipynb' }, 'python'],
    ['source', { path: 'a.ipynb', cell_type: 'markdown' }, 'markdown'],
    ['source', { cell_type: 'raw' }, ''],
    ['content', { path: 'src/a.ts' }, 'typescript'],
    ['content', { filename: 'page.html' }, 'html'],
    ['content', { path: 'Makefile' }, ''],
    ['command', {}, 'shell'],
    ['path', { path: 'a.py' }, null]
  ])('shows the argument %s of %j as %s', (name, given, language) => {
    expect(languageOf(name, given)).toBe(language);
  });
});
