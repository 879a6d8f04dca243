/** Input prompts of running cells in the chat. */

import { fireEvent, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';

import { fixture } from '../../../model/__tests__/reducerFixtures';
import type { Event } from '../../../wire/generated';
import { act, showPanel } from '../../__tests__/harness';

/** A run that outlived its turn asks for a password. */
const events = (): Event[] => fixture('long-runs').events;
const field = () => screen.getByLabelText<HTMLInputElement>('Password:');
const answered = (answer: boolean): Event => ({
  session_id: 's1',
  turn_id: null,
  at: '',
  seq: events().length + 1,
  type: 'stdin-answer',
  call_id: 'c2',
  answered: answer
});

describe('input for a cell', () => {
  test('is typed into a masked field and sent with Enter', async () => {
    const { server, socket, container } = await showPanel(events());
    expect(field().type).toBe('password');
    const user = userEvent.setup();
    await user.type(field(), 'hunter2{Enter}');
    expect(server.requests.at(-1)).toEqual([
      'answerInput',
      's1',
      'c2',
      { text: 'hunter2' }
    ]);
    await act(() => socket.deliver([answered(true)]));
    expect(screen.queryByLabelText('Password:')).toBeNull();
    const cards = container.querySelectorAll('.shoulders-StdinCard');
    expect([...cards].map(card => card.lastChild?.textContent)).toEqual([
      'Answered',
      'Answered'
    ]);
    expect(container.innerHTML).not.toContain('hunter2');
  });

  test('that nobody waits for any more says so', async () => {
    const { server, socket } = await showPanel(events());
    server.fail({ code: 'already_answered' }, 409);
    fireEvent.submit(field());
    await act(() => {});
    expect(screen.queryByRole('alert')).toBeNull();
    expect(
      screen.getByText('The cell is no longer waiting for this input.')
    ).toBeTruthy();
    await act(() => socket.deliver([answered(false)]));
    expect(screen.getByText('Not answered')).toBeTruthy();
  });
});

test('a question of an MCP server names it, and can be declined', async () => {
  const ofServer = events().map(event =>
    event.type === 'tool-call' ? { ...event, tool: 'mcp__crm__find' } : event
  );
  const { server } = await showPanel(ofServer);
  expect(screen.getAllByText('The MCP server crm is asking')).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'Decline' }));
  expect(server.requests.at(-1)).toEqual([
    'answerInput',
    's1',
    'c2',
    { text: '/decline' }
  ]);
});

test('the answers that a server offers are buttons', async () => {
  const ofServer = events().map((event): Event => {
    if (event.type === 'tool-call') {
      return { ...event, tool: 'mcp__crm__find' };
    }
    return event.type === 'stdin-request'
      ? {
          ...event,
          password: false,
          prompt: 'Send it?\n/decline declines, /cancel cancels.',
          choices: ['yes', 'Oslo\u202e']
        }
      : event;
  });
  const { server, container } = await showPanel(ofServer);
  expect(container.querySelector('.shoulders-StdinCard input')).toBeNull();
  expect(screen.getAllByText('Send it?')).toBeTruthy();
  expect(screen.getByRole('button', { name: 'Oslo⟨U+202E⟩' })).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'Yes' }));
  expect(server.requests.at(-1)).toEqual([
    'answerInput',
    's1',
    'c2',
    { text: 'yes' }
  ]);
});
