/** Suggestions in the settings. */

import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';

import { act, show } from './page';

/** The part of the suggestions; `sent` has what was stored of them, change by change. */
async function suggestions() {
  const { api, user } = await show('suggestions');
  const sent = (): unknown[] =>
    api.asked
      .filter(([what]) => what === 'putSettings')
      .map(([, body]) => (body as { ghost?: unknown }).ghost);
  return { user, sent };
}

test('switches are stored at once', async () => {
  const { user, sent } = await suggestions();
  await user.click(screen.getByRole('switch', { name: 'With ++' }));
  await act();
  await user.click(screen.getByRole('switch', { name: 'While you type' }));
  await act();
  expect(sent()).toEqual([{ enabled_plus: false }, { automatic: true }]);
});

test('languages are names with commas between them, each once and in lower case', async () => {
  const { user, sent } = await suggestions();
  const field = screen.getByRole('textbox', { name: 'Languages without ++' });
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
