/** The quick-pick by keyboard and mouse, and what it says when there are no places. */

import { nullTranslator } from '@jupyterlab/translation';
import { act, render, screen, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import * as React from 'react';
import { expect, test } from 'vitest';

import { ApiError } from '../../client/http';
import { problem, settled } from '../../model/__tests__/fakes';
import type {
  ErrorInfo,
  MeaningStatus,
  SearchResults
} from '../../wire/generated';
import { QuickPick } from '../QuickPick';
import { SearchStore } from '../searchStore';
import { answer, INDEX, match, MEANING } from './fixtures';

Element.prototype.scrollIntoView = () => {};

const PLACES = answer(
  match({
    ...{ path: 'work/a.py', line: 3 },
    ...{ heading: 'load', heading_marks: [[0, 4]], name_marks: [[0, 1]] }
  }),
  match({
    path: 'b.ipynb',
    kind: 'notebook',
    cell_id: 'c1',
    is_output: true,
    heading: 'Setup › Data'
  }),
  match({ path: 'work/a.py', line: 9 })
);

async function show(
  reply: SearchResults | Partial<ErrorInfo>,
  meaning: MeaningStatus | null = null
) {
  const done: unknown[] = [];
  const store = new SearchStore({
    search: async () => {
      if ('matches' in reply) {
        return reply;
      }
      throw new ApiError(403, { ...problem, ...reply });
    },
    status: async () => ({ ...INDEX, meaning })
  });
  store.loadSetup();
  await settled();
  render(
    <QuickPick
      store={store}
      host={{
        trans: nullTranslator.load('x'),
        Icon: () => null,
        FileIcon: () => <i />,
        open: ({ path, line }) => done.push(['open', path, line]),
        attach: matches => done.push(['attach', matches.length]),
        openSettings: () => done.push(['settings'])
      }}
    />
  );
  const user = userEvent.setup();
  const field = screen.getByRole('combobox', { name: 'Search the workspace' });
  const press = async (keys: string): Promise<void> => {
    await user.type(field, keys);
    await act(settled);
  };
  return { done, field, press, store, user };
}

test('places are grouped by document, and the active one is announced', async () => {
  const { field, press } = await show(PLACES);
  await press('data');
  const groups = screen.getAllByRole('group').map(group => [
    group.getAttribute('aria-labelledby') !== null,
    ...within(group)
      .getAllByRole('option')
      .map(option => option.textContent)
  ]);
  expect(groups).toEqual([
    [true, 'loadline 3load data', 'line 9load data'],
    [true, 'Setup › Dataoutputload data']
  ]);
  expect(screen.getAllByText('data', { selector: 'mark' })).toHaveLength(3);
  const [first] = screen.getAllByRole('group');
  expect(
    Array.from(first?.querySelectorAll('mark') ?? [], mark => mark.textContent)
  ).toEqual(['a', 'load', 'data', 'data']);
  expect(screen.getByRole('status').textContent).toBe('3 places');
  expect(field.getAttribute('aria-expanded')).toBe('true');

  await press('{ArrowUp}');
  const active = screen.getByRole('option', { selected: true });
  expect(active.textContent).toContain('output');
  expect(field.getAttribute('aria-activedescendant')).toBe(active.id);
});

test.each<[string, string, unknown[]]>([
  ['Enter opens the best place', 'data{Enter}', ['open', 'work/a.py', 3]],
  ['Enter opens the active place', 'data{End}{Enter}', ['open', 'b.ipynb', 1]],
  [
    'Alt+Enter attaches the place',
    'data{ArrowDown}{Alt>}{Enter}{/Alt}',
    ['attach', 1]
  ],
  ['Shift+Enter is left to the field', 'data{Shift>}{Enter}{/Shift}', []]
])('%s', async (_, keys, expected) => {
  const { done, press } = await show(PLACES);
  await press(keys);
  expect(done.flat()).toEqual(expected);
});

test('a click opens, and the button attaches every place shown', async () => {
  const { done, press, user } = await show(PLACES);
  await press('data');
  await user.click(screen.getByText('line 9'));
  await user.click(screen.getByRole('button', { name: 'Ask about these' }));
  expect(done).toEqual([
    ['open', 'work/a.py', 9],
    ['attach', 3]
  ]);
});

test.each<[string, SearchResults | Partial<ErrorInfo>, string, string]>([
  ['an empty field', answer(), ' ', 'Type words'],
  ['no places', answer(), 'x', 'Try fewer'],
  [
    'an index that is being built',
    { ...answer(), warning: 'The index is being built.' },
    'x',
    'being built'
  ],
  ['search that is off', { code: 'disabled' }, 'x', 'switched off'],
  ['a failed request', { message: 'No answer.' }, 'x', 'No answer.']
])('with %s it says why', async (_, reply, query, text) => {
  const { press } = await show(reply);
  await press(query);
  expect(screen.getByText(text, { exact: false, selector: 'div, span' }));
  expect(screen.queryByRole('option')).toBeNull();
});

test('a conversation is a group of its own, named by its title', async () => {
  const said = match({
    kind: 'conversation',
    path: '',
    heading: 'Why load data?',
    conversation: { session_id: 'ses_1', message_id: 'msg_1' }
  });
  const { press } = await show(answer(match(), said));
  await press('data');
  expect(
    screen.getByRole('group', { name: 'Why load data? conversation' })
  ).toBeDefined();
  expect(screen.getAllByRole('option').map(each => each.textContent)).toEqual([
    'line 1load data',
    'load data'
  ]);
});

test('what has the focus stays when an answer brings a warning', async () => {
  const nothing: SearchResults = { ...answer() };
  const { press, store } = await show(nothing);
  await press('x');
  const link = screen.getByRole('button', { name: 'What is searched' });
  link.focus();
  nothing.warning = '1 new or changed file is not searched yet.';
  await act(async () => {
    store.refresh();
    await settled();
  });
  expect(screen.getByText(nothing.warning)).toBeDefined();
  expect(document.activeElement).toBe(link);
});

test('the settings are offered where search is off', async () => {
  const { done, press, user } = await show({ code: 'disabled' });
  await press('x');
  await user.click(
    screen.getByRole('button', { name: 'Open the search settings' })
  );
  expect(done).toEqual([['settings']]);
});

test('a place that only meaning found has a tag', async () => {
  const { press } = await show(
    answer(
      match({ line: 1, matched_by: 'meaning', marks: [] }),
      match({ line: 2, matched_by: 'both' })
    )
  );
  await press('x');
  const [first, second] = screen.getAllByRole('option');
  expect(first?.textContent).toBe('meaningline 1load data');
  expect(second?.textContent).toBe('line 2load data');
});

const CONSENT = {
  ...{ host: 'api.acme.com', model: 'embed' },
  ...{ chunks: 2, tokens: 9, cost_micro_usd: null }
};
test.each<[string, Partial<MeaningStatus> | null, number]>([
  ['no meaning', null, 0],
  ['no model', { model: null }, 0],
  ['a model', {}, 0],
  ['a model that is not allowed yet', { consent: CONSENT }, 1]
])('with %s the footer leads to the settings: %i', async (_, change, links) => {
  const { done, user } = await show(
    answer(),
    change && { ...MEANING, ...change }
  );
  const found = screen.queryAllByRole('button', {
    name: 'Search by meaning is not set up'
  });
  for (const link of found) {
    await user.click(link);
  }
  expect(done).toEqual(Array.from({ length: links }, () => ['settings']));
});
