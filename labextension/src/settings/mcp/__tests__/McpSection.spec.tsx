/** The section of MCP servers. */

import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';

import { problem } from '../../../model/__tests__/fakes';
import { mcpServer, type FakeMcpServers } from '../../__tests__/fakeMcp';
import { act, show } from '../../__tests__/renderSettings';
import type { McpServerInfo } from '../../store/mcpWire';

/** Show the section with these servers. */
async function servers(...given: McpServerInfo[]) {
  const page = await show('mcp', api => api.mcp.have(...given));
  const mcp: FakeMcpServers = page.api.mcp;
  const card = (name: string): HTMLElement =>
    screen.getByRole('listitem', { name });
  const click = async (name: string): Promise<void> => {
    await page.user.click(screen.getByRole('button', { name }));
    await act();
  };
  return { ...page, mcp, card, click };
}

test('a command is recognised, named and added', async () => {
  const { user, mcp, click, card } = await servers();
  await click('Add server…');
  await user.type(
    screen.getByLabelText('Command, address, or JSON entry'),
    'npx -y @modelcontextprotocol/server-everything'
  );
  expect(screen.getByLabelText('Name')).toHaveProperty('value', 'everything');
  await click('Add');
  expect(mcp.asked).toEqual([
    [
      'put',
      'everything',
      {
        entry: {
          command: 'npx',
          args: ['-y', '@modelcontextprotocol/server-everything'],
          env: {},
          cwd: null
        },
        replaces: null
      }
    ]
  ]);
  expect(card('everything')).toBeTruthy();
});

test('the entries of another client are added together, unless a name is taken', async () => {
  const { user, mcp, click } = await servers(mcpServer('one'));
  await click('Add server…');
  const text = screen.getByLabelText('Command, address, or JSON entry');
  const list = (...names: string[]): string =>
    JSON.stringify({
      mcpServers: Object.fromEntries(
        names.map(name => [name, { url: `https://${name}.example/mcp` }])
      )
    });
  await user.click(text);
  await user.paste(list('one', 'two'));
  expect(screen.getByRole('alert').textContent).toContain('named one');
  await user.clear(text);
  await user.paste(list('two', 'three'));
  expect(screen.getByText('Adds: two, three')).toBeTruthy();
  await click('Add');
  expect(mcp.asked.map(([what, name]) => [what, name])).toEqual([
    ['put', 'two'],
    ['put', 'three']
  ]);
});

test('a test starts the server and shows what it offers', async () => {
  const { click, card } = await servers(mcpServer('files'));
  expect(card('files').textContent).toContain('not started');
  await click('Test files');
  expect(card('files').textContent).toContain('works2 tools.');
  expect(within(card('files')).getByText('2 tools')).toBeTruthy();
});

test('a server of the folder shows its exact entry and waits for the answer', async () => {
  const { mcp, click, card } = await servers(
    mcpServer('a', {
      source: 'workspace',
      state: 'review',
      review_id: 'r1',
      content: 'rm -rf \u202e/'
    }),
    mcpServer('b', {
      source: 'workspace',
      state: 'review',
      review_id: 'r2',
      content: 'new',
      previous: 'old'
    })
  );
  expect(within(card('a')).queryByRole('button', { name: /Test/ })).toBeNull();
  expect(card('a').textContent).toContain('rm -rf ⟨U+202E⟩/');
  expect(card('b').textContent).toContain('changed since you allowed it');
  await click('Allow a');
  await click('Don’t allow b');
  expect(mcp.asked).toEqual([
    ['answer', 'a', { allow: true, review_id: 'r1' }],
    ['answer', 'b', { allow: false, review_id: 'r2' }]
  ]);
  expect(card('b').textContent).toContain('not allowed');
});

test('a missing value is typed unseen and kept', async () => {
  const { user, mcp, card } = await servers(
    mcpServer('git', { state: 'missing_value', missing: ['GIT_TOKEN'] })
  );
  const field = screen.getByLabelText('GIT_TOKEN');
  expect(field).toHaveProperty('type', 'password');
  await user.type(field, 'secret{Enter}');
  await act();
  expect(mcp.asked).toEqual([['setValue', 'git', 'GIT_TOKEN', 'secret']]);
  expect(card('git').textContent).toContain('not started');
});

test('a failure has its reason and log, a tool left out its reason', async () => {
  const { user, card, click } = await servers(
    mcpServer('bad', {
      state: 'failed',
      error: { ...problem, message: 'It ended with code 1.' },
      log: ['Traceback', 'KeyError'],
      left_out: [{ name: 'huge', reason: 'Its schema is too large.' }]
    })
  );
  expect(within(card('bad')).getByRole('alert').textContent).toContain(
    'It ended with code 1.'
  );
  await user.click(screen.getByRole('button', { name: 'Last log lines' }));
  expect(card('bad').textContent).toContain('KeyError');
  await user.click(screen.getByRole('button', { name: '1 tool left out' }));
  expect(card('bad').textContent).toContain('Its schema is too large.');
  await click('Restart bad');
  expect(card('bad').textContent).toContain('running');
});

test('signing in opens the page, and the return reads the state again', async () => {
  const { mcp, click, card, done } = await servers(
    mcpServer('cloud', { state: 'sign_in', host: 'cloud.example' })
  );
  await click('Sign in to cloud');
  expect(done).toEqual([['page', 'https://login.example/authorize']]);
  mcp.change('cloud', { state: 'running', signed_in: true });
  await act(() => void window.dispatchEvent(new Event('focus')));
  expect(card('cloud').textContent).toContain('running');
  await click('Sign out of cloud');
  expect(
    screen.queryByRole('button', { name: 'Sign out of cloud' })
  ).toBeNull();
});

test('the administrator’s list cannot be changed', async () => {
  const { mcp, user } = await servers(
    mcpServer('lab', { source: 'administrator', locked: true })
  );
  mcp.list = { ...mcp.list, locked: 'Ask the lab.' };
  await act();
  expect(screen.getByRole('switch', { name: 'Use lab' })).toHaveProperty(
    'disabled',
    true
  );
  expect(screen.queryByRole('button', { name: 'Edit lab' })).toBeNull();
  await user.click(screen.getByRole('button', { name: 'Test lab' }));
  await act();
  expect(screen.getByText(/Ask the lab/)).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'Add server…' })).toBeNull();
});

test('an entry is changed under another name, and removed after a question', async () => {
  const { user, mcp, click } = await servers(mcpServer('one'));
  await click('Edit one');
  await user.clear(screen.getByLabelText('Name'));
  await user.type(screen.getByLabelText('Name'), 'two');
  await click('Save');
  expect(mcp.asked.at(-1)?.slice(0, 2)).toEqual(['put', 'two']);
  expect(mcp.asked.at(-1)?.[2]).toMatchObject({ replaces: 'one' });
  await click('Remove two');
  expect(screen.getByText('No servers yet.')).toBeTruthy();
});
