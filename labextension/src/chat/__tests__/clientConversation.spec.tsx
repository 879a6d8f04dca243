/** A conversation that a client of our MCP server leads. */

import { fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';

import { session } from '../../model/__tests__/fakes';
import type { Event } from '../../wire/generated';
import { showPanel } from './harness';
import { button, log } from './queries';

/** The log of a fixture, in a session of a client. */
function ledBy(client: string, events: readonly Event[]): Event[] {
  return events.map(event =>
    'session' in event
      ? {
          ...event,
          session: session('s1', {
            kind: 'agent',
            source: 'mcp',
            status: event.session.status,
            model: `client:${client}`
          })
        }
      : event
  );
}

test('names the client, has no input, and takes the answer to its call', async () => {
  const { server, container } = await showPanel(
    ledBy('Claude Code', log('approval-pending'))
  );
  const bar = screen.getByRole('group', { name: 'Connected program' });
  expect(bar.textContent).toBe('Claude CodeMCP client');
  expect(screen.getByText(/^Claude Code leads this conversation/)).toBeTruthy();
  expect(container.querySelector('textarea')).toBeNull();
  expect(screen.queryByRole('button', { name: 'Edit and resend' })).toBeNull();
  fireEvent.click(button('Run'));
  expect(server.requests.at(-1)?.[3]).toEqual({
    decision: 'allow',
    scope: 'once'
  });
  fireEvent.click(button('Stop (Esc)'));
  expect(server.requests.at(-1)?.[0]).toBe('cancel');
});
