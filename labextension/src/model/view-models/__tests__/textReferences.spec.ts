/** References in answers, and the location of the cells and files they name. */

import { describe, expect, test } from 'vitest';

import type {
  AgentView,
  CallView,
  Json,
  MessageView,
  UserView
} from '../../../wire/generated';
import {
  cellIdOf,
  fileNamed,
  referenceIndex,
  notebookOf,
  knownPaths,
  referencesIn
} from '../textReferences';

const known = referenceIndex(
  [
    'work/analysis.ipynb',
    'load.py',
    'old/data.csv',
    'new/data.csv',
    'Makefile'
  ],
  'work/analysis.ipynb'
);

describe('a text refers to', () => {
  test.each<[string, string[]]>([
    ['See Cell 10.', ['Cell 10']],
    ['cells 3, 4 and 7 failed', ['cells 3', '4', '7']],
    ['cells 2–5', ['cells 2', '5']],
    ['cell 3, 4 plots', ['cell 3']],
    ['excel 3, cell three, cell 12345', []],
    ['load.py, analysis.ipynb', ['load.py', 'analysis.ipynb']],
    ['in work/analysis.ipynb.', ['work/analysis.ipynb']],
    ['download.py, load.pyc, x/load.py', []],
    ['data.csv is one of two, new/data.csv', ['new/data.csv']],
    ['a Makefile', []],
    ['Cell 2 of load.py', ['Cell 2', 'load.py']]
  ])('%s', (text, names) => {
    const found = referencesIn(text, known);
    expect(found.map(({ from, to }) => text.slice(from, to))).toEqual(names);
  });

  test('no cell where no notebook is known', () => {
    expect(referencesIn('cell 3', referenceIndex([], null))).toEqual([]);
  });

  test('a file by its whole name in code', () => {
    expect(fileNamed(' ./load.py', known)).toEqual({
      kind: 'file',
      path: 'load.py'
    });
    expect(fileNamed('open("load.py")', known)).toBeNull();
  });
});

function call(
  tool: string,
  given: Record<string, Json>,
  data: Json = null,
  ok = true
): CallView {
  return {
    type: 'call',
    call_id: tool,
    tool,
    arguments: given,
    raw: null,
    invalid: null,
    risk: 'read',
    external: false,
    title: tool,
    target: null,
    state: ok ? 'ok' : 'error',
    approval: null,
    answer: null,
    progress: [],
    result: {
      ok,
      kind: 'none',
      data,
      warning: null,
      error: ok
        ? null
        : {
            code: 'not_found',
            message: '',
            hint: null,
            retryable: false,
            provider: null,
            model: null,
            request_id: null,
            details: null
          },
      meta: { total: null, truncated: null, duration_ms: null }
    } as CallView['result'],
    content: [],
    duration_ms: null,
    handle: null
  };
}

function answer(...parts: CallView[]): AgentView {
  return { role: 'agent', turn_id: 't', seq: 2, at: '', parts };
}

function question(document: string): UserView {
  return {
    role: 'user',
    message_id: 'm',
    seq: 1,
    at: '',
    text: '',
    attachments: [{ kind: 'file', path: 'attached.csv' }],
    context: {
      active_document: document,
      active_cell_id: null,
      selection: null,
      open_documents: ['open.md']
    }
  };
}

const read = call(
  'read_notebook',
  { path: 'a.ipynb' },
  {
    path: 'a.ipynb',
    cells: [
      { cell_id: 'one', index: 0 },
      { cell_id: 'two', index: 1 }
    ]
  }
);
const added = call(
  'add_cell',
  { path: 'a.ipynb' },
  { path: 'a.ipynb', cell_id: 'new', index: 0 }
);

describe('what is known to an answer', () => {
  test('are files of its calls, of the message before it, and open ones', () => {
    const said = answer(
      read,
      call('read_file', { path: 'none.py' }, null, false),
      call('list_files', { path: 'folder' }),
      call('move_file', { path: 'b.py' }, { path: 'b.py', new_path: 'c.py' })
    );
    expect(knownPaths(said, [question('q.ipynb'), said], ['now.py'])).toEqual([
      'now.py',
      'open.md',
      'q.ipynb',
      'attached.csv',
      'a.ipynb',
      'c.py'
    ]);
  });

  test.each<[string, AgentView, string | null]>([
    ['the one its calls are about', answer(read), 'a.ipynb'],
    ['the one in front, without calls', answer(), 'q.ipynb'],
    [
      'the one in front, of several',
      answer(read, call('read_notebook', { path: 'b.ipynb' })),
      'q.ipynb'
    ]
  ])('is a notebook: %s', (_, said, notebook) => {
    expect(notebookOf(said, [question('q.ipynb'), said])).toBe(notebook);
  });
});

describe('the number of a cell', () => {
  const idOf = (number: number, ...calls: CallView[]): string | null => {
    const said = answer(...calls);
    const messages: MessageView[] = [question('q.ipynb'), said];
    return cellIdOf(number, said, messages, 'a.ipynb');
  };

  test('is the one that was read', () => {
    expect(idOf(2, read)).toBe('two');
  });

  test('is unknown once cells were added', () => {
    expect(idOf(1, read, added)).toBe('new');
    expect(idOf(2, read, added)).toBeNull();
    expect(idOf(2, added, read)).toBe('two');
  });

  test('is unknown in another notebook', () => {
    expect(cellIdOf(1, answer(read), [], 'b.ipynb')).toBeNull();
  });
});
