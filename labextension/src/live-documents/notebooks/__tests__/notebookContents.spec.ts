import type { YCodeCell } from '@jupyter/ydoc';
import { beforeEach, describe, expect, it } from 'vitest';

import type { DocumentContent, NotebookCell } from '../../../wire/generated';
import { listVersion } from '../../../wire/versions';
import { open, type FakeContext } from '../../__tests__/fakeLab';
import { NotebookContents } from '../notebookContents';
import { OpenNotebook } from '../openNotebook';

let lab: FakeContext;
let notebook: OpenNotebook;
let contents: NotebookContents;
let server: Server;

/** Keeps what it was sent, as `live/cell_lists.py` does. */
class Server {
  cells: NotebookCell[] = [];
  metadata: unknown;
  since: number | null = null;

  read(...outputs: string[]): DocumentContent {
    const answer = contents.read({
      type: 'document-read',
      operation_id: '',
      claim_epoch: 1,
      path: 'a.ipynb',
      outputs,
      since: this.since
    });
    const bare = answer.cells.map(cell => ({ ...cell, outputs: null }));
    if (answer.revision !== this.since) {
      this.cells = this.updated(answer, bare);
    }
    this.metadata = answer.metadata ?? this.metadata;
    this.since = answer.revision;
    return answer;
  }

  private updated(
    { order }: DocumentContent,
    cells: NotebookCell[]
  ): NotebookCell[] {
    if (order === null) {
      return cells;
    }
    const known = new Map(
      [...this.cells, ...cells].map(cell => [cell.id, cell])
    );
    const ids = this.cells.map(({ id }) => id);
    ids.splice(order.start, order.removed, ...order.ids);
    const now = ids.flatMap(id => known.get(id) ?? []);
    expect(listVersion(now)).toBe(order.list_version);
    return now;
  }
}

beforeEach(() => {
  lab = open(
    { id: 'a', source: 'one', outputs: ['1\n'] },
    { id: 'b', source: 'two' },
    { id: 'c', source: 'three', type: 'markdown' }
  );
  notebook = new OpenNotebook(lab.context);
  contents = new NotebookContents(notebook);
  server = new Server();
  server.read();
});

const code = (id: string): YCodeCell => lab.cell(id) as YCodeCell;

/** Each change of a notebook, and the cells that are sent again because of it. */
const changes: [string, () => void, string[]][] = [
  ['nothing', () => undefined, []],
  ['typing', () => lab.type('b', '!'), ['b']],
  [
    'an output that JupyterLab adds silently',
    () => code('a').appendStreamOutput(0, '2\n', 'silent-change'),
    ['a']
  ],
  ['outputs', () => lab.print('b', 'printed'), ['b']],
  [
    'the end of a run',
    () => {
      code('b').execution_count = 7;
    },
    ['b']
  ],
  [
    'metadata of a cell',
    () => lab.cell('c').setMetadata('tags', ['kept']),
    ['c']
  ],
  ['a moved cell', () => lab.model.sharedModel.moveCell(0, 2), ['a']],
  ['a deleted cell', () => lab.model.sharedModel.deleteCell(0), []],
  [
    'an undone deletion',
    () => {
      lab.model.sharedModel.clearUndoHistory();
      lab.model.sharedModel.deleteCell(0);
      lab.model.sharedModel.undo();
    },
    ['a']
  ],
  [
    'an inserted cell',
    () =>
      void lab.model.sharedModel.insertCell(1, {
        id: 'x',
        cell_type: 'raw',
        source: 'new',
        metadata: {}
      }),
    ['x']
  ],
  ['a reload of the file', () => lab.load(), ['a', 'b', 'c']]
];

describe('NotebookContents', () => {
  it.each(changes)('sends what changed: %s', (title, change, sent) => {
    change();
    const { since } = server;
    const { cells: changed, revision } = server.read();
    expect(changed.map(({ id }) => id)).toEqual(sent);
    expect(revision === since).toBe(title === 'nothing');
    const whole = new NotebookContents(new OpenNotebook(lab.context));
    const { cells } = whole.read({
      type: 'document-read',
      operation_id: '',
      claim_epoch: 1,
      path: 'a.ipynb',
      outputs: [],
      since: null
    });
    expect(server.cells).toEqual(cells);
  });

  it('sends outputs that are asked for, of an unchanged cell too', () => {
    const { cells } = server.read('a', 'c');
    expect(cells.map(cell => [cell.id, cell.outputs])).toEqual([
      ['a', [{ output_type: 'stream', name: 'stdout', text: '1\n' }]],
      ['c', []]
    ]);
  });

  it('sends everything when the server has another answer than the last', () => {
    server.since = 0;
    expect(server.read()).toMatchObject({
      order: null,
      cells: [{ id: 'a' }, { id: 'b' }, { id: 'c' }]
    });
  });

  it("sends the notebook's metadata when it changes", () => {
    expect(server.read().metadata).toBeNull();
    lab.model.sharedModel.setMetadata('language_info', { name: 'python' });
    expect(server.read().metadata).toMatchObject({
      language_info: { name: 'python' }
    });
    expect(server.read().metadata).toBeNull();
  });
});
