/** The section of web services. */

import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';

import { act, show } from '../../__tests__/renderSettings';

/** Show the section; return the card of a service. */
async function services() {
  const { api, user } = await show('services');
  const card = (name: string): HTMLElement =>
    screen.getByRole('listitem', { name });
  return { api, user, card };
}

test('a key is stored, shown by its end, and removed after a question', async () => {
  const { api, user, card } = await services();
  const tavily = card('Tavily');
  expect(within(tavily).getByText('no key')).toBeTruthy();
  await user.type(
    within(tavily).getByLabelText('Key for Tavily'),
    ' tvly-12345678 {Enter}'
  );
  await act();
  expect(api.asked.at(-1)).toEqual([
    'setServiceKey',
    { id: 'tavily', key: 'tvly-12345678' }
  ]);
  expect(within(tavily).getByText('key …5678')).toBeTruthy();
  await user.click(within(tavily).getByRole('button', { name: 'Remove key' }));
  await act();
  expect(within(tavily).getByText('no key')).toBeTruthy();
});

test('a service is tested', async () => {
  const { user, card } = await services();
  const crossref = card('Crossref');
  await user.click(
    within(crossref).getByRole('button', { name: 'Test Crossref' })
  );
  await act();
  expect(within(crossref).getByText('crossref answers.')).toBeTruthy();
});

test('the address of an own server is stored and removed; without one it cannot be tested', async () => {
  const { api, user, card } = await services();
  const searxng = card('SearXNG');
  const button = (): HTMLButtonElement =>
    within(searxng).getByRole('button', { name: 'Test SearXNG' });
  expect(button().disabled).toBe(true);
  const field = within(searxng).getByLabelText('Address of SearXNG');
  await user.type(field, 'http://127.0.0.1:8888{Enter}');
  await act();
  expect(button().disabled).toBe(false);
  await user.clear(field);
  await user.type(field, '{Enter}');
  await act();
  expect(api.asked.at(-1)).toEqual([
    'setServiceAddress',
    { id: 'searxng', address: null }
  ]);
});
