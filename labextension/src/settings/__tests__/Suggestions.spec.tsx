import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import * as React from 'react';
import { expect, test } from 'vitest';

import { FakeSocket, settled } from '../../model/__tests__/fakes';
import type { ISettingsHost } from '../host';
import { SettingsPage } from '../SettingsPage';
import { SettingsStore } from '../store';
import { FakeApi, trans } from './fakes';

async function show() {
  const api = new FakeApi();
  const nothing = (): void => undefined;
  const host: ISettingsHost = {
    trans,
    Icon: ({ name }) => <i data-icon={name} />,
    confirm: async () => true,
    openDocument: nothing,
    openInstructions: async () => undefined,
    openConversation: nothing,
    openEditor: nothing
  };
  const store = new SettingsStore(api, new FakeSocket());
  render(
    <SettingsPage
      host={host}
      store={store}
      section="suggestions"
      onSection={nothing}
    />
  );
  await act();
  return { store, user: userEvent.setup(), sent: () => sentTo(api) };
}

async function act(): Promise<void> {
  await React.act(settled);
}

/** What was stored of suggestions, change by change. */
function sentTo(api: FakeApi): unknown[] {
  return api.asked
    .filter(([what]) => what === 'putSettings')
    .map(([, body]) => (body as { ghost?: unknown }).ghost);
}

test('switches are stored at once', async () => {
  const { user, sent } = await show();
  await user.click(screen.getByRole('switch', { name: 'With ++' }));
  await act();
  await user.click(screen.getByRole('switch', { name: 'While you type' }));
  await act();
  expect(sent()).toEqual([{ enabled_plus: false }, { automatic: true }]);
});

test('languages are names with commas between them, each once and in lower case', async () => {
  const { user, sent } = await show();
  const field = screen.getByRole('textbox', { name: 'Not with ++ in' });
  await user.type(field, 'C++, java,, Java , r{Enter}');
  await act();
  expect(sent()).toEqual([{ skip_languages: ['c++', 'java', 'r'] }]);
  expect(field).toHaveProperty('value', 'c++, java, r');

  await user.clear(field);
  await user.type(field, `${'x'.repeat(65)}{Enter}`);
  await act();
  expect(screen.getByRole('alert').textContent).toContain('commas');
  expect(sent()).toHaveLength(1);
});
