/** The section of MCP servers. */

import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';

import { item } from '../../../trust/__tests__/fakes';
import { mcpServer, type FakeMcpServers } from '../../__tests__/fakeMcp';
import { act, show } from '../../__tests__/renderSettings';
import type { McpServerView } from '../../../wire/generated';

/** Show the section with these servers. */
async function servers(...given: McpServerView[]) {
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
        transport: 'stdio',
        command: 'npx',
        args: ['-y', '@modelcontextprotocol/server-everything'],
        env: {},
        folder: null,
        sampling: false
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
  expect(card('files').textContent).toContain('worksIt answers.');
  expect(within(card('files')).getByText('2 tools')).toBeTruthy();
});

test('a server of the folder shows its exact command and waits for the answer', async () => {
  const asks = (name: string, change: Partial<McpServerView>): McpServerView =>
    mcpServer(name, { source: 'workspace', trust_id: name, ...change });
  const { api, mcp, click, card } = await servers(
    asks('a', { trust: 'new', command: ['sh', '-c', 'rm \u202e/'] }),
    asks('b', { trust: 'changed', url: 'https://b/mcp', host: 'b' })
  );
  api.folder.have(
    item('program', { id: 'a', content: '{"command": "sh"}' }),
    item('program', { id: 'b', state: 'changed' })
  );
  await act(() => void api.mcp.servers());
  expect(within(card('a')).queryByRole('button', { name: /Test/ })).toBeNull();
  expect(card('a').textContent).toContain("sh -c 'rm ⟨U+202E⟩/'");
  expect(card('b').textContent).toContain('Changed since you allowed it');
  await click('Allow a');
  await click('Don’t allow b');
  expect(api.folder.answers).toEqual([{ trust: ['a'] }, { decline: ['b'] }]);
  mcp.change('b', { trust: 'declined' });
});

test('a missing value is typed unseen and kept', async () => {
  const { user, mcp, card } = await servers(
    mcpServer('git', {
      missing_values: [{ name: 'GIT_TOKEN', used_in: ['env.TOKEN'] }]
    })
  );
  const field = screen.getByLabelText('GIT_TOKEN');
  expect(field).toHaveProperty('type', 'password');
  await user.type(field, 'secret{Enter}');
  await act();
  expect(mcp.asked).toEqual([['setValue', 'git', 'GIT_TOKEN', 'secret']]);
  expect(card('git').textContent).toContain('not started');
});

test('a failure has its reason and log', async () => {
  const { user, card, click } = await servers(
    mcpServer('bad', {
      status: 'failed',
      error: 'It ended with code 1.',
      log_lines: ['Traceback', 'KeyError']
    })
  );
  expect(within(card('bad')).getByRole('alert').textContent).toContain(
    'It ended with code 1.'
  );
  await user.click(screen.getByRole('button', { name: 'Last log lines' }));
  expect(card('bad').textContent).toContain('KeyError');
  await click('Restart bad');
  expect(card('bad').textContent).toContain('running');
});

test('tools that are left out are named with their reasons', async () => {
  const { user, card } = await servers(
    mcpServer('flood', {
      status: 'running',
      left_out: [{ tool: 'evil\u202e', reason: 'its schema cannot be read' }],
      more_left_out: 4749,
      unread: 'Only the first 5,000 were read, because its pages repeat.'
    })
  );
  expect(card('flood').textContent).toContain('Only the first 5,000 were read');
  await user.click(
    screen.getByRole('button', {
      name: '4750 tools are not offered to the agent'
    })
  );
  expect(card('flood').textContent).toContain(
    'evil⟨U+202E⟩: its schema cannot be read4749 more tools'
  );
});

test('signing in opens the page, and the return reads the state again', async () => {
  const { mcp, click, card, done } = await servers(
    mcpServer('cloud', { authorization: 'needed', url: 'https://cloud/mcp' })
  );
  await click('Sign in to cloud');
  expect(done).toEqual([['page', 'https://login.example/authorize']]);
  expect(mcp.asked).toEqual([['signIn', 'cloud', 'http://h/user/ada/']]);
  mcp.change('cloud', { status: 'running', authorization: 'signed_in' });
  await act(() => void window.dispatchEvent(new Event('focus')));
  expect(card('cloud').textContent).toContain('running');
  await click('Sign out of cloud');
  expect(
    screen.queryByRole('button', { name: 'Sign out of cloud' })
  ).toBeNull();
});

test('the administrator’s list cannot be changed', async () => {
  const { mcp, user } = await servers(
    mcpServer('lab', { source: 'administrator', lock_reason: 'Ask the lab.' })
  );
  mcp.list = { ...mcp.list, lock_reason: 'No others.' };
  await act();
  expect(screen.getByRole('switch', { name: 'Use lab' })).toHaveProperty(
    'disabled',
    true
  );
  expect(screen.queryByRole('button', { name: 'Edit lab' })).toBeNull();
  await user.click(screen.getByRole('button', { name: 'Test lab' }));
  await act();
  expect(screen.getByText('Ask the lab.')).toBeTruthy();
  expect(screen.getByText(/No others/)).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'Add server…' })).toBeNull();
});

test('a command is changed without its variables, and a server removed after a question', async () => {
  const { user, mcp, click } = await servers(
    mcpServer('one', { environment_names: ['TOKEN'] })
  );
  await click('Edit one');
  await user.clear(screen.getByLabelText('Command'));
  await user.type(screen.getByLabelText('Command'), 'uvx two');
  await click('Save');
  expect(mcp.asked.at(-1)).toEqual([
    'put',
    'one',
    {
      transport: 'stdio',
      command: 'uvx',
      args: ['two'],
      folder: null,
      sampling: false
    }
  ]);
  await click('Remove one');
  expect(screen.getByText('No servers yet.')).toBeTruthy();
});
