/** The section of access for other programs. */

import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';

import { act, press, show } from '../../__tests__/renderSettings';
import { clientEntry, CLIENTS } from '../clientEntries';

test('a token is made with its scopes, shown once, and revoked', async () => {
  const { api, user, done, container } = await show('access');
  await press(user, 'New token…');
  await user.type(screen.getByLabelText('Name of the program'), 'Codex');
  await user.click(screen.getByRole('checkbox', { name: /^run/ }));
  await press(user, 'Create');
  expect(api.access.list.tokens).toMatchObject([
    { name: 'Codex', scopes: ['read', 'run'] }
  ]);
  await press(user, 'Copy: Token');
  expect(done.at(-1)).toEqual(['copy', 'secret-t1']);
  await user.selectOptions(screen.getByLabelText('Program'), 'codex');
  expect(container.textContent).toContain('Bearer secret-t1');

  await press(user, 'Done');
  expect(container.textContent).not.toContain('secret-t1');
  expect(container.textContent).toContain('not used yet');
  await press(user, 'Revoke Codex');
  expect(api.access.list.tokens).toEqual([]);
});

test.each([
  [{ enabled: false }, 'Switched off'],
  [{ install: 'pip install "jupyter-ai-shoulders[mcp]"' }, 'pip install']
])('what is missing is said: %o', async (change, text) => {
  const { container } = await show('access', ({ access }) => {
    access.list = { ...access.list, ...change };
  });
  await act();
  expect(container.textContent).toContain(text);
});

test.each(CLIENTS)('the entry of %s has the address and the token', client => {
  const { text, file } = clientEntry(client, 'http://h/mcp', 'abc');
  expect(text).toContain('http://h/mcp');
  expect(text).toContain('Bearer abc');
  expect(
    file === null || !file.endsWith('.json') || Boolean(JSON.parse(text))
  ).toBe(true);
});
