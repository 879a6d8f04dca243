/** The search section. */

import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';

import { nullTranslator } from '@jupyterlab/translation';

import { statusText } from '../../../search/indexStatusItem';
import type {
  EmbedderChoice,
  EmbeddingConsent,
  MeaningStatus,
  SearchIndexStatus
} from '../../../wire/generated';
import { FakeApi } from '../../__tests__/fakes';
import { act, press, show } from '../../__tests__/renderSettings';

Element.prototype.scrollIntoView = () => {};

const { index: READY } = new FakeApi();

test.each<[Partial<SearchIndexStatus>, string, string]>([
  [{}, 'Up to date · 12 files · 340 chunks · 2.5 MB', ''],
  [
    { conversations: 1 },
    'Up to date · 12 files · 1 conversation · 340 chunks · 2.5 MB',
    ''
  ],
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
  [{ state: 'empty' }, 'No index yet. The first search builds it.', ''],
  [
    {
      ...{ state: 'building', behind: 2048, files: 12_345, chunks: 1_000_000 },
      bytes: 1_234_500_000
    },
    'Indexing: 2,048 files left · 12,345 files · 1,000,000 chunks · 1.2 GB',
    'Indexing: 2,048 files left'
  ]
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

test('a problem names its file once', async () => {
  const problems = [
    { path: 'a.md', message: 'a.md is not a text file.' },
    { path: null, message: '60000 files are not searched.' }
  ];
  await show('search', api => (api.index = { ...READY, problems }));
  expect(screen.getByText('a.md is not a text file.'));
  expect(screen.getByText('60,000 files are not searched.'));
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
  await user.click(
    screen.getByRole('switch', { name: 'Search in the workspace' })
  );
  await act();
  expect(
    api.asked.map(([, body]) => (body as { search?: unknown }).search)
  ).toEqual([{ exclude: ['a/**', '*.csv'] }, { enabled: false }]);
  expect(screen.queryByRole('button', { name: 'Rebuild' })).toBeNull();
});

const MEANING: MeaningStatus = {
  model: 'text-embedding-3-small',
  host: 'api.openai.com',
  is_local: false,
  store: 'local',
  dimension: null,
  missing: 0,
  consent: null,
  problem: null,
  models: [],
  cost_micro_usd: 0
};
const CONSENT: EmbeddingConsent = {
  host: 'api.openai.com',
  model: 'text-embedding-3-small',
  chunks: 10621,
  tokens: 2_100_000,
  cost_micro_usd: 42_000
};

test.each<[Partial<MeaningStatus>, string]>([
  [{}, 'text-embedding-3-small · api.openai.com · Ready'],
  [
    { cost_micro_usd: 42_000 },
    'text-embedding-3-small · api.openai.com · Ready · $0.04 this month'
  ],
  [
    { model: 'nomic', host: '127.0.0.1', is_local: true, missing: 1 },
    'nomic · on this machine · 1 chunk left'
  ],
  [
    { store: 'server', missing: 2000 },
    'text-embedding-3-small · api.openai.com · Qdrant server · 2,000 chunks left'
  ],
  [
    { problem: 'It does not answer.' },
    'text-embedding-3-small · api.openai.com'
  ],
  [{ problem: 'It does not answer.' }, 'It does not answer.'],
  [{ model: null, host: null, problem: 'Start Ollama.' }, 'Start Ollama.'],
  [
    { consent: CONSENT },
    'text-embedding-3-small · api.openai.com · Not allowed yet'
  ]
])('search by meaning %j is described as %s', async (change, words) => {
  const meaning = { ...MEANING, ...change };
  await show('search', api => (api.index = { ...READY, meaning }));
  expect(screen.getAllByText(words)).toHaveLength(1);
});

test.each<[Partial<EmbeddingConsent>, string]>([
  [
    {},
    'Send 10,621 chunks (about 2.1M tokens) to api.openai.com for text-embedding-3-small. Estimated cost: $0.04.'
  ],
  [
    { chunks: 1, tokens: 90, cost_micro_usd: null },
    'Send 1 chunk (about 90 tokens) to api.openai.com for text-embedding-3-small. Price unknown.'
  ]
])('with the numbers %j it asks: %s', async (change, words) => {
  const meaning = { ...MEANING, consent: { ...CONSENT, ...change } };
  await show('search', api => (api.index = { ...READY, meaning }));
  expect(screen.getByText(words));
});

test('sending is allowed and stopped for this folder, also where all folders are shown', async () => {
  const meaning = { ...MEANING, consent: CONSENT };
  const { api, user } = await show(
    'search',
    server => (server.index = { ...READY, meaning })
  );
  await user.click(screen.getByRole('radio', { name: 'All my folders' }));
  await press(user, 'Allow');
  expect(screen.queryByRole('button', { name: 'Allow' })).toBeNull();
  const stop = screen.getByRole('button', { name: 'Stop sending' });
  expect(document.activeElement).toBe(stop);
  expect(screen.getByText('Texts are sent to api.openai.com.'));
  await press(user, 'Stop sending');
  const allow = screen.getByRole('button', { name: 'Allow' });
  expect(document.activeElement).toBe(allow);
  expect(
    api.asked.map(([, body, scope]) => [
      (body as { search?: unknown }).search,
      scope
    ])
  ).toEqual([
    [{ send_to: 'api.openai.com' }, 'workspace'],
    [{ send_to: '' }, 'workspace']
  ]);
});

const NOMIC: EmbedderChoice = {
  ...{ id: 'ollama/nomic', model: 'nomic:latest', host: '127.0.0.1:11434' },
  ...{ is_local: true, is_chosen: false }
};
const MODELS: EmbedderChoice[] = [
  NOMIC,
  {
    ...{ id: 'acme/embed', model: 'embed', host: 'api.acme.com' },
    ...{ is_local: false, is_chosen: true }
  }
];
const CHOICES = [
  'Chosen automatically',
  'nomic:latest · on this machine',
  'embed · api.acme.com'
];

/** A server whose settings name an embedding model. */
const naming =
  (embedder: string, models: EmbedderChoice[], change: object = {}) =>
  (server: FakeApi): void => {
    server.index = { ...READY, meaning: { ...MEANING, models } };
    const { values } = server.held;
    const search = { ...values.search, embedder };
    server.held = { ...server.held, values: { ...values, search }, ...change };
  };

const modelField = (): HTMLSelectElement =>
  screen.getByRole('combobox', { name: 'Embedding model' });

test.each<[string, string, EmbedderChoice[], string[], string]>([
  ['none', '', MODELS, CHOICES, 'Chosen automatically'],
  ['one', 'acme/embed', MODELS, CHOICES, 'embed · api.acme.com'],
  ['one by another id', 'embed', MODELS, CHOICES, 'embed · api.acme.com'],
  [
    'one that is gone',
    'acme/old',
    [NOMIC],
    [...CHOICES.slice(0, 2), 'acme/old (not available)'],
    'acme/old (not available)'
  ]
])(
  'the models are offered where the setting names %s',
  async (_, named, models, titles, shown) => {
    await show('search', naming(named, models));
    const { options, selectedOptions } = modelField();
    expect(Array.from(options, ({ text }) => text)).toEqual(titles);
    expect(selectedOptions[0]?.text).toBe(shown);
  }
);

test('a model is chosen, unless the administrator did', async () => {
  const { api, user, unmount } = await show('search', naming('', MODELS));
  await user.selectOptions(modelField(), 'nomic:latest · on this machine');
  await act();
  expect(
    api.asked.map(([, body]) => (body as { search?: unknown }).search)
  ).toEqual([{ embedder: 'ollama/nomic' }]);
  unmount();
  const locks = { 'search.embedder': 'It comes from Shoulders.settings.' };
  await show('search', naming('acme/embed', MODELS, { locks }));
  expect(modelField().disabled).toBe(true);
  expect(screen.getByText(/Locked by your administrator/));
});

test('consent to a host that is not used can be withdrawn', async () => {
  const { user } = await show('search', server => {
    const local = { is_local: true, host: '127.0.0.1' };
    server.index = { ...READY, meaning: { ...MEANING, ...local } };
    const { values } = server.held;
    const search = { ...values.search, send_to: 'api.acme.com' };
    server.held = { ...server.held, values: { ...values, search } };
  });
  expect(screen.getByText('Texts may be sent to api.acme.com.'));
  await user.click(
    screen.getByRole('switch', { name: 'Also search by meaning' })
  );
  await act();
  expect(
    screen.queryByRole('combobox', { name: 'Embedding model' })
  ).toBeNull();
  expect(screen.getByRole('button', { name: 'Stop sending' }));
});
