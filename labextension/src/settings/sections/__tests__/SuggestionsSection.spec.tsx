/** The suggestions section. */

import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';

import type { SentCompletion } from '../../../wire/generated';
import { act, show } from '../../__tests__/renderSettings';

const SENT: SentCompletion = {
  request_id: 'r1',
  at: '2026-11-22T10:00:00.000Z',
  path: 'work/a.py',
  trigger: 'plus',
  model: 'acme/small',
  provider: 'acme',
  calls: 3,
  system: 'You complete',
  messages: [
    { role: 'user', parts: [{ type: 'text', text: 'x = \u202e', state: null }] }
  ],
  suffix: 'print(x)',
  tools: [],
  response_schema: null
};

/** Show the suggestions section; `sent` records the stored changes. */
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

test('what was sent is listed, and each part of it can be read', async () => {
  const { api, user } = await show('suggestions');
  expect(screen.getByText('Nothing was sent.')).toBeTruthy();
  api.sent = { requests: [SENT] };
  await user.click(screen.getByRole('button', { name: 'Refresh' }));
  await act();
  const group = within(screen.getByRole('region', { name: 'Sent requests' }));
  const summary = group.getByRole('button', { name: /^work\/a\.py/ });
  expect(summary.textContent).toContain(
    'acme/small · requested with ++ · 3 times'
  );
  await user.click(summary);
  const texts: (string | null)[] = [];
  for (const name of [
    /^System prompt/,
    /^1\. To the model/,
    /^Text after the cursor/
  ]) {
    const part = group.getByRole('button', { name });
    await user.click(part);
    texts.push(part.parentElement?.querySelector('pre')?.textContent ?? null);
  }
  expect(texts).toEqual(['You complete', 'x = ⟨U+202E⟩', 'print(x)']);
});

test('a list that cannot be read says so, and can be asked for again', async () => {
  const { api, user } = await show('suggestions');
  api.fail({ message: 'No list today.' });
  await user.click(screen.getByRole('button', { name: 'Refresh' }));
  await act();
  expect(screen.getByRole('alert').textContent).toContain('No list today.');
  await user.click(screen.getByRole('button', { name: 'Try again' }));
  await act();
  expect(screen.queryByRole('alert')).toBeNull();
});
