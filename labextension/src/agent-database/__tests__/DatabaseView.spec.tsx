import { nullTranslator } from '@jupyterlab/translation';
import { fireEvent, render, screen } from '@testing-library/react';
import * as React from 'react';
import { expect, test } from 'vitest';

import type {
  AgentDatabase,
  DatabasePage,
  Settings
} from '../../wire/generated';
import type { IDatabaseApi } from '../api';
import { cellText, type Cell } from '../cellText';
import { DatabaseView } from '../DatabaseView';
import { nextOrder } from '../TableView';

const trans = nullTranslator.load('test');

test.each<[Cell, string, string]>([
  [null, 'null', 'NULL'],
  ['', 'empty', 'empty text'],
  ['NULL', 'text', 'NULL'],
  ['a\u202eb', 'text', 'a⟨U+202E⟩b'],
  [0, 'number', '0'],
  [{ integer: '9223372036854775807' }, 'number', '9223372036854775807'],
  [{ real: 'inf' }, 'number', 'inf'],
  [{ bytes: 12, base64: null }, 'bytes', '12 bytes'],
  [{ text: 'abc', characters: 5000 }, 'text', 'abc…']
])('%j is shown as %s %s', (cell, kind, text) => {
  expect(cellText(cell, trans)).toMatchObject({ kind, text });
});

test('a column is sorted upwards, downwards, then not', () => {
  const up = nextOrder(null, 'a');
  expect(up).toEqual({ column: 'a', descending: false });
  const down = nextOrder(up, 'a');
  expect(down).toEqual({ column: 'a', descending: true });
  expect(nextOrder(down, 'a')).toBeNull();
  expect(nextOrder(down, 'b')).toEqual({ column: 'b', descending: false });
});

const COLUMN = { name: 'a', type: 'INTEGER', key: true, required: false };
const OFF: AgentDatabase = {
  enabled: false,
  tables: [],
  path: null,
  file: null,
  size: null,
  limit: 100_000_000,
  problem: null
};

function shown(database: AgentDatabase, page: DatabasePage | null = null) {
  const asked: unknown[][] = [];
  let now = database;
  const api: IDatabaseApi = {
    tables: async () => now,
    page: async (...query) => {
      asked.push(query);
      return page ?? { columns: [], rows: [], total: 0, offset: 0 };
    },
    exported: async (...query) => {
      asked.push(query);
      return new Blob(['x']);
    },
    switchOn: async () => {
      now = { ...OFF, enabled: true };
      return {} as Settings; // Nothing reads the answer.
    }
  };
  const host = {
    trans,
    Icon: () => null,
    save: (name: string) => asked.push(['saved', name])
  };
  render(<DatabaseView host={host} api={api} shown={0} />);
  return asked;
}

test('it is switched on from its empty state', async () => {
  shown(OFF);
  fireEvent.click(await screen.findByText('Switch on for this folder'));
  expect(await screen.findByText(/There are no tables yet/)).toBeTruthy();
});

test('a damaged file is named', async () => {
  shown({ ...OFF, enabled: true, problem: 'agent.db is damaged.' });
  expect((await screen.findByRole('alert')).textContent).toContain('damaged');
});

test('a table is paged, sorted and exported', async () => {
  const table = { name: 't', kind: 'table', columns: [COLUMN] } as const;
  const database = {
    ...OFF,
    enabled: true,
    tables: [{ ...table, columns: [COLUMN], sql: '', problem: null }]
  };
  const rows: DatabasePage['rows'] = Array.from({ length: 100 }, (_, n) => [n]);
  const asked = shown(database, {
    columns: [COLUMN],
    rows,
    total: 250,
    offset: 0
  });
  expect(await screen.findByText('Rows 1 to 100 of 250')).toBeTruthy();
  fireEvent.click(screen.getByText('Next'));
  fireEvent.click(screen.getByTitle('Sort by a'));
  fireEvent.click(screen.getByText('Export CSV'));
  await screen.findByText('Export CSV');
  expect(asked.slice(0, 2)).toEqual([
    ['t', 0, null],
    ['t', 100, null]
  ]);
  expect(asked).toContainEqual(['t', 0, { column: 'a', descending: false }]);
  expect(asked).toContainEqual(['t', 'csv']);
});
