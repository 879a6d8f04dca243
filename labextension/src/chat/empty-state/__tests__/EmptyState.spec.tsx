/** The empty state: ideas and model setup. */

import { fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';

import { model, status } from '../../../model/__tests__/fakes';
import type { ProviderHealth } from '../../../wire/generated';
import { ideasFor } from '../promptIdeas';
import { act, FakeHost, showPanel } from '../../__tests__/harness';

const { trans } = new FakeHost();
const situation = (document: string | null, hasError = false) => ({
  document,
  cell: document === null ? null : { id: 'c', number: 1, hasError },
  selection: null,
  openDocuments: []
});
const cell = (number: number, line: string, hasError = false) => ({
  id: `c${number}`,
  number,
  type: 'code',
  line,
  hasError
});
const first = (document: string | null, ...cells: ReturnType<typeof cell>[]) =>
  ideasFor(
    { editorContext: situation(document), cells, variables: [] },
    trans
  )[0];

test.each([
  [null, 'What can you do for me?'],
  ['data/a.csv', 'Summarise the table in a.csv'],
  ['notes.md', 'Summarise notes.md'],
  ['src/load.py', 'Explain load.py']
])('ideas fit %j', (document, idea) => {
  expect(first(document)).toBe(idea);
});

test('ideas fit what is in the notebook and in its kernel', () => {
  expect(first('a.ipynb', cell(1, ''))).toBe(
    'Load a file of this workspace and show its first rows'
  );
  expect(first('a.ipynb', cell(1, 'x'), cell(2, '1 / 0', true))).toBe(
    'Explain the error in cell 2 and fix it'
  );
  const ideas = ideasFor(
    {
      editorContext: situation('a.ipynb', true),
      cells: [cell(1, 'x', true)],
      variables: [
        { name: 'n', summary: 'int' },
        { name: 'bikes', summary: 'pandas.DataFrame · 3 × 2' }
      ]
    },
    trans
  );
  expect(ideas).toEqual([
    'Explain this error and fix it',
    'Summarise this notebook',
    'Plot a column of bikes',
    'Tidy up the imports'
  ]);
});

test('while the demo answers, only what it has rules for is offered', () => {
  const ideas = (
    document: string | null,
    ...cells: ReturnType<typeof cell>[]
  ) =>
    ideasFor(
      {
        editorContext: situation(document),
        cells,
        variables: [],
        isDemo: true
      },
      trans
    );
  expect(ideas(null)).toEqual(['What can you do?']);
  expect(ideas('load.py')).toEqual(['What can you do?']);
  expect(ideas('a.ipynb', cell(1, ''))).toEqual(['What can you do?']);
  expect(ideas('a.ipynb', cell(1, 'x'), cell(2, '1 / 0', true))).toEqual([
    'Explain the error in cell 2 and fix it',
    'Summarise this notebook',
    'What is left to do?',
    'What can you do?'
  ]);
});

test('the tour has its own ideas', () => {
  const cells = [{ ...cell(8, 'guesses'), id: 'count-mistakes' }];
  const [idea] = ideasFor(
    { editorContext: situation('tour.ipynb'), cells, variables: [] },
    trans
  );
  expect(idea).toBe('Why does cell 8 fail? Please fix it and run it again.');
});

test('an idea takes the place of another one, and of nothing the user wrote', async () => {
  const { conversations } = await showPanel([], server => {
    const models = [model('p/best', { provider: 'p' })];
    server.modelList = { ...server.modelList, models, default: 'p/best' };
  });
  const draft = () => conversations.draft(conversations.active.key);
  const press = (button: Element | undefined) =>
    act(() => void fireEvent.click(button ?? document.body));
  const [one, two] = document.querySelectorAll('.shoulders-Idea');
  await press(one);
  await press(two);
  expect(draft()).toBe(two?.textContent);
  await act(() =>
    conversations.suggest(conversations.active.key, 'My own words')
  );
  await press(one);
  expect(draft()).toBe(`My own words\n${one?.textContent ?? ''}`);
});

const provider = (change: Partial<ProviderHealth>): ProviderHealth => ({
  id: 'p',
  name: 'P',
  kind: 'anthropic',
  key_set: false,
  key_last4: null,
  key_source: 'none',
  key_name: 'P_KEY',
  needs_key: true,
  host: '',
  local: false,
  state: 'no_key',
  error: null,
  custom: false,
  ...change
});

test('models of this machine can be used with a click', async () => {
  const { conversations } = await showPanel([], server => {
    server.serverStatus = { ...status, models: 'demo' };
    server.modelList = {
      ...server.modelList,
      models: [
        model('demo/demo'),
        model('ollama/qwen3', { provider: 'ollama', label: 'qwen3' })
      ],
      providers: [
        provider({
          id: 'ollama',
          kind: 'ollama',
          needs_key: false,
          local: true
        })
      ]
    };
  });
  fireEvent.click(screen.getByRole('button', { name: /This is the demo/ }));
  await act(() => {
    fireEvent.click(screen.getByRole('button', { name: 'Use qwen3' }));
  });
  expect(conversations.model(conversations.active.key)).toBe('ollama/qwen3');
});

test('a key that works has its provider answer in place of the demo', async () => {
  const { conversations, host, server } = await showPanel([], fake => {
    fake.serverStatus = { ...status, models: 'demo' };
    fake.modelList = { ...fake.modelList, providers: [provider({})] };
  });
  fireEvent.click(screen.getByRole('button', { name: /This is the demo/ }));
  expect(screen.getByText(/Or set P_KEY before you start/)).toBeTruthy();
  fireEvent.change(screen.getByLabelText('Key'), { target: { value: 'sk' } });
  server.modelList = {
    ...server.modelList,
    models: [model('demo/demo'), model('p/best', { provider: 'p' })]
  };
  await act(() => {
    fireEvent.click(screen.getByRole('button', { name: 'Save and test' }));
  });
  await act(() => {});
  expect(host.done).toContainEqual(['key', 'p', 'sk', false]);
  expect(conversations.model(conversations.active.key)).toBe('p/best');
  expect(document.body.innerHTML).not.toContain('value="sk"');
});
