/** The search section. */

import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';

import { nullTranslator } from '@jupyterlab/translation';

import { statusText } from '../../../search/indexStatusItem';
import type { SearchIndexStatus } from '../../../wire/generated';
import { FakeApi } from '../../__tests__/fakes';
import { act, press, show } from '../../__tests__/renderSettings';

const { index: READY } = new FakeApi();

test.each<[Partial<SearchIndexStatus>, string, string]>([
  [{}, 'Up to date · 12 files · 340 chunks · 2.5 MB', ''],
  [
    { state: 'building', behind: 7 },
    'Indexing: 7 files left · 12 files · 340 chunks · 2.5 MB',
    'Indexing: 7 files left'
  ],
  [
    { state: 'paused', behind: 1 },
    'Paused · 1 file left · 12 files · 340 chunks · 2.5 MB',
    ''
  ],
  [
    { state: 'failed' },
    'Indexing failed · 12 files · 340 chunks · 2.5 MB',
    'Search index failed'
  ],
  [{ state: 'empty' }, 'No index yet. The first search builds it.', '']
])('the index %j is described', async (change, words, statusBar) => {
  const status = { ...READY, ...change };
  await show('search', api => (api.index = status));
  expect(screen.getByText(words));
  expect(statusText(status, nullTranslator.load('x'))).toBe(statusBar);
});

test('the index is paused, resumed, rebuilt, and cleared after a question', async () => {
  const { api, done, user } = await show('search');
  await press(user, 'Pause');
  await press(user, 'Resume');
  await press(user, 'Rebuild');
  await press(user, 'Clear…');
  expect(api.asked).toEqual(
    ['pause', 'resume', 'rebuild', 'clear'].map(action => [
      'changeSearchIndex',
      { action }
    ])
  );
  expect(done.map(([what]) => what)).toEqual(['confirm']);
});

test('a change of the index is read again', async () => {
  const { api, socket } = await show('search');
  api.index = { ...READY, state: 'building', behind: 3 };
  await act(() =>
    socket.frameReceived.emit({ type: 'settings-update', part: 'search' })
  );
  expect(screen.getByText(/^Indexing: 3 files left/));
});

test('many problems are collapsed', async () => {
  const problems = ['a', 'b', 'c', 'd'].map(path => ({
    path,
    message: 'Too large.'
  }));
  const { user } = await show(
    'search',
    api => (api.index = { ...READY, problems })
  );
  expect(screen.queryByText('a · Too large.')).toBeNull();
  await press(user, '4 problems');
  expect(screen.getByText('a · Too large.'));
});

test('it says why a file is not found', async () => {
  const { user } = await show('search');
  const field = screen.getByRole('textbox', {
    name: 'Why is this file not found?'
  });
  await user.type(field, 'data/x.csv{Enter}');
  await act();
  expect(screen.getByText('Git ignores it.'));
});

test('patterns are lines, each once; search that is off shows no index', async () => {
  const { api, user } = await show('search');
  const field = screen.getByRole('textbox', { name: 'Leave out' });
  await user.type(field, 'a/**\n\n *.csv \na/**');
  await press(user, 'Save');
  await user.clear(field);
  await user.type(field, 'x'.repeat(257));
  expect(screen.getByRole('alert').textContent).toContain('256');
  await user.click(screen.getByRole('switch'));
  await act();
  expect(
    api.asked.map(([, body]) => (body as { search?: unknown }).search)
  ).toEqual([{ exclude: ['a/**', '*.csv'] }, { enabled: false }]);
  expect(screen.queryByRole('button', { name: 'Rebuild' })).toBeNull();
});
