/** Resources of MCP servers after `@`, prompts after `/`. */

import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';

import { act, showPanel } from '../../__tests__/harness';
import { field } from '../../__tests__/queries';

test('a resource is attached by its server and address', async () => {
  const { conversations } = await showPanel([], (_, host) => {
    host.resources = {
      ...host.resources,
      resources: [
        {
          server: 'docs',
          uri: 'docs://intro',
          name: 'intro',
          title: 'Introduction',
          description: null,
          media_type: 'text/plain',
          size: null
        }
      ]
    };
  });
  await userEvent.type(field(), '@intro');
  await act(() => {});
  expect(screen.getByRole('group', { name: 'MCP resources' })).toBeTruthy();
  await userEvent.click(screen.getByRole('option', { name: /Introduction/ }));
  expect(conversations.attachments(conversations.active.key)).toEqual([
    { kind: 'mcp_resource', server: 'docs', uri: 'docs://intro', name: 'intro' }
  ]);
});

test('a prompt asks for its arguments and puts its text into the message', async () => {
  const { host, conversations } = await showPanel([], (_, given) => {
    given.prompts = {
      problems: [],
      prompts: [
        {
          server: 'docs',
          name: 'review',
          title: 'Review',
          description: null,
          arguments: [
            { name: 'style', description: 'How strict', required: true },
            { name: 'focus', description: null, required: false }
          ]
        }
      ]
    };
  });
  await userEvent.click(field());
  await userEvent.paste('/rev'); // at once, before the prompts have arrived
  await act(() => {});
  await userEvent.click(screen.getByRole('option', { name: /docs:review/ }));
  await act(() => {});
  await userEvent.type(screen.getByLabelText('style'), 'kind{Enter}');
  await act(() => {});
  expect(host.asked).toContainEqual([
    'mcpPrompt',
    'docs',
    'review',
    { style: 'kind' }
  ]);
  const { key } = conversations.active;
  expect(conversations.draft(key)).toBe('Text of review.');
  expect(conversations.attachments(key)).toEqual([
    { kind: 'mcp_prompt', server: 'docs', name: 'review' }
  ]);
});
