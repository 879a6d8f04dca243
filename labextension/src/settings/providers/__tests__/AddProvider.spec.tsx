/** Adding and editing providers. */

import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';

import { FOUND, provider, REFUSED } from '../../__tests__/fakes';
import { press, show } from '../../__tests__/renderSettings';

const paste = () => screen.getByLabelText('Key or address');

test('an address is asked, its models are tried, and one is chosen', async () => {
  const { api, user, store } = await show('providers');
  await store.settings.load();
  await press(user, 'Add provider…');
  await user.type(paste(), '127.0.0.1:8000');
  await press(user, 'Detect');
  expect(api.asked).toContainEqual([
    'detect',
    { address: '127.0.0.1:8000', key: '', auth: '', headers: {} }
  ]);
  expect(
    screen.getByText(/Found 127.0.0.1:8000: OpenAI-compatible/)
  ).toBeTruthy();

  const name = screen.getByLabelText('Name');
  await user.clear(name);
  await user.type(name, 'Lab');
  await user.click(screen.getByLabelText('All listed models (2 now)'));
  expect(screen.getByText('Choose at least one model.')).toBeTruthy();
  await user.click(screen.getByLabelText('small'));
  await user.type(
    screen.getByLabelText('Name of another model'),
    'mine{Enter}'
  );
  await press(user, 'Save and test');
  expect(api.asked).toContainEqual([
    'putProvider',
    'local-8000',
    {
      name: 'Lab',
      kind: 'openai_chat',
      url: 'http://127.0.0.1:8000/v1',
      key: '',
      auth: '',
      headers: {},
      list_models: false,
      models: ['small', 'mine'],
      model: 'small',
      new: true,
      untested: false
    }
  ]);
  await press(user, 'Use acme/big for new conversations');
  expect(api.held.values.models.default).toBe('acme/big');
});

test('a key of a provider that is known is saved as such', async () => {
  const { api, user } = await show('providers');
  api.found = { ...FOUND, id: 'acme', name: 'Acme', known: true };
  await press(user, 'Add provider…');
  await user.type(paste(), 'sk-acme-0123456789');
  expect(paste()).toHaveProperty('type', 'password');
  await press(user, 'Detect');
  await press(user, 'Save and test');
  expect(api.asked).toContainEqual(['tryKey', 'acme', 'sk-acme-0123456789']);
  expect(screen.getByText('Acme is saved.')).toBeTruthy();
});

test('what was refused is not saved unless the user insists', async () => {
  const { api, user } = await show('providers');
  api.saved = REFUSED;
  await press(user, 'Add provider…');
  await user.type(paste(), 'http://lab.example');
  await press(user, 'Detect');
  await press(user, 'Save and test');
  expect(screen.getByRole('alert').textContent).toContain('Not saved.');
  api.saved = { ...REFUSED, stored: true, test: null };
  await press(user, 'Save anyway');
  const sent = api.asked.filter(([what]) => what === 'putProvider');
  expect(sent.map(([, , body]) => body)).toMatchObject([
    { untested: false },
    { untested: true }
  ]);
});

test('a failed detection is said beside the field; a server that wants a key asks for it', async () => {
  const { api, user } = await show('providers');
  await press(user, 'Add provider…');
  await user.type(paste(), 'http://lab.example');
  api.fail({ message: 'No answer from lab.example.' });
  await press(user, 'Detect');
  expect(screen.getByRole('alert').textContent).toContain('No answer');
  api.found = { ...FOUND, needs_key: true, models: [] };
  await press(user, 'Detect');
  expect(screen.getByText(/requires a key. Paste it/)).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'Save and test' })).toBeNull();
});

test('a provider of the user is changed and removed', async () => {
  const { api, user } = await show('providers', ({ catalogue }) => {
    catalogue.providers = [
      provider('lab', { name: 'Lab', custom: true, needs_key: false })
    ];
  });
  await press(user, 'Edit Lab');
  const [card = document.body] = screen
    .getAllByRole('listitem')
    .filter(each => within(each).queryByLabelText('Address') !== null);
  const address = within(card).getByLabelText('Address');
  expect(address).toHaveProperty('value', 'http://lab.example/v1');
  await user.type(
    within(card).getByLabelText('Name of another model'),
    'new{Enter}'
  );
  await press(user, 'Save and test');
  expect(api.asked.at(-1)).toMatchObject([
    'putProvider',
    'lab',
    { models: ['old', 'new'], headers: { 'X-Team': 'physics' }, new: false }
  ]);
  await press(user, 'Done');
  await press(user, 'Remove Lab');
  expect(api.asked).toContainEqual(['removeProvider', 'lab']);
});
