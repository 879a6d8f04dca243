/** The panel by keyboard and mouse: list, additions, the report of a check. */

import { nullTranslator } from '@jupyterlab/translation';
import { act, render, screen, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import * as React from 'react';
import { expect, test } from 'vitest';

import { settled } from '../../model/__tests__/fakes';
import type { AddedReference, ReferenceCheck } from '../../wire/generated';
import { ReferenceLibrary } from '../library';
import { PanelStore } from '../panelStore';
import { ReferencesPanel } from '../ReferencesPanel';
import { list, WORKS } from './fixtures';

Element.prototype.scrollIntoView = () => {};

const CHECK: ReferenceCheck = {
  findings: [
    {
      ...{ kind: 'retracted', key: 'knuth1984', message: 'It was retracted.' },
      ...{ path: 'references.bib', cell_id: null, line: 9 },
      url: 'https://doi.org/10.1000/notice'
    },
    {
      ...{ kind: 'missing', key: 'nobody', message: 'No bibliography has it.' },
      ...{ path: 'a.ipynb', cell_id: 'c1', line: null, url: '' }
    }
  ],
  documents: 1,
  references: 3,
  not_checked: ''
};
const ADDED: AddedReference = {
  ...{ reference: WORKS[1] ?? null, status: 'added', reason: '' },
  source: 'Crossref'
};

async function show(works = WORKS) {
  const done: unknown[] = [];
  const answer = {
    ...list(...works),
    problems: [
      { file: 'references.bib', line: 30, message: 'It does not end.' }
    ]
  };
  const call = async <T,>(): Promise<T> => answer as T; // the one route of the library
  const store = new PanelStore(new ReferenceLibrary({ call }), {
    add: async (query, isFile) => {
      done.push(['add', query, isFile]);
      return ADDED;
    },
    check: async path => {
      done.push(['check', path]);
      return CHECK;
    },
    remove: async ({ key }) => void done.push(['removed', key])
  });
  render(
    <ReferencesPanel
      store={store}
      host={{
        trans: nullTranslator.load('x'),
        Icon: () => null,
        cite: ({ key }) => done.push(['cite', key]),
        citation: ({ key }) => `[@${key}]`,
        copy: text => done.push(['copy', text]),
        openFile: (path, line) => done.push(['file', path, line]),
        openAddress: address => done.push(['address', address]),
        remove: ({ key }) => done.push(['remove', key]),
        goTo: ({ key }) => done.push(['go', key]),
        insertBibliography: () => done.push(['bibliography']),
        currentDocument: () => 'a.ipynb'
      }}
    />
  );
  await act(settled);
  const user = userEvent.setup();
  const click = async (name: string): Promise<void> => {
    await user.click(screen.getByRole('button', { name }));
    await act(settled);
  };
  return { done, user, click };
}

test('works are searched and cited by keyboard', async () => {
  const { done, user } = await show();
  expect(screen.getAllByRole('option')).toHaveLength(3);
  const field = screen.getByRole('combobox', { name: 'Search references' });
  await user.type(field, '{ArrowDown}{Enter}');
  expect(done).toEqual([['cite', 'knuth1984']]);
  await user.type(field, 'love');
  expect(screen.getAllByRole('option')).toHaveLength(1);
  await user.type(field, 'zzz');
  expect(screen.queryAllByRole('option')).toHaveLength(0);
  expect(screen.getByText(/Nothing found/)).toBeDefined();
});

test('a work has its actions, one of Zotero fewer', async () => {
  const { click, done, user } = await show();
  await user.click(screen.getByText('The TeXbook'));
  for (const name of ['Copy key', 'Open DOI', 'Open PDF', 'Show in file']) {
    await click(name);
  }
  await click('Delete');
  expect(done).toEqual([
    ['copy', 'knuth1984'],
    ['address', 'https://doi.org/10.1000/tex'],
    ['file', 'tex.pdf', null],
    ['file', 'references.bib', 9],
    ['remove', 'knuth1984']
  ]);
  await user.click(screen.getByText('Étude'));
  const actions = screen.getByRole('group', { name: 'Selected work' });
  expect(within(actions).queryByText('Delete')).toBeNull();
  expect(within(actions).getByText('No register has it.')).toBeDefined();
});

test('an address is added and the work is shown', async () => {
  const { done, user } = await show();
  const field = screen.getByRole('textbox', { name: 'Add a work' });
  await user.type(field, '10.1000/tex{Enter}');
  await act(settled);
  expect(done).toEqual([['add', '10.1000/tex', false]]);
  expect(screen.getByText('Added knuth1984 (Crossref)')).toBeDefined();
  expect(screen.getAllByRole('option')).toHaveLength(1);
});

test('findings are grouped and lead to their places', async () => {
  const { click, done } = await show();
  await click('Check');
  const report = screen.getByRole('region', { name: 'Report of the check' });
  const heads = within(report)
    .getAllByRole('heading')
    .map(({ textContent }) => textContent);
  expect(heads).toEqual(['Retracted', 'Cited, but in no bibliography']);
  await click('Go to a.ipynb');
  expect(done).toEqual([
    ['check', 'a.ipynb'],
    ['go', 'nobody']
  ]);
  await click('Back');
  expect(screen.getAllByRole('option')).toHaveLength(3);
});

test('an empty workspace says what to do, broken entries lead to their lines', async () => {
  const { done, user } = await show([]);
  expect(screen.getByText(/it is written to references.bib/)).toBeDefined();
  await user.click(screen.getByText('1 broken entry'));
  await user.click(screen.getByText(/references.bib, line 30/));
  expect(done).toEqual([['file', 'references.bib', 30]]);
});
