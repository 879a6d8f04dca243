/** Queued messages after a stopped turn: moved to the input, or sent on request. */

import { fireEvent, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';

import { fixture } from '../../model/__tests__/reducerFixtures';
import type { Event } from '../../wire/generated';
import { act, showPanel } from './harness';

const queuedLog = (): Event[] => fixture('queued-messages').events;
const field = (): HTMLTextAreaElement =>
  screen.getByPlaceholderText<HTMLTextAreaElement>(/…$/);
const queue = () => screen.queryByRole('list', { name: 'Queued messages' });

function ended(): Event {
  const events = queuedLog();
  const last = events.at(-1);
  return {
    session_id: 's1',
    turn_id: last?.turn_id ?? null,
    at: '',
    seq: events.length + 1,
    type: 'turn-end',
    exit: 'cancelled',
    error: null,
    summary: null
  };
}

const removed = (seq: number): Event => ({
  session_id: 's1',
  turn_id: null,
  at: '',
  seq,
  type: 'message-update',
  message_id: 'm4',
  status: 'removed',
  text: null
});

describe('a turn that is stopped with Esc', () => {
  test('gives what is queued back to an empty input', async () => {
    const { server, socket } = await showPanel(queuedLog());
    await act(() => void fireEvent.keyDown(field(), { key: 'Escape' }));
    await act(() => socket.deliver([ended()]));
    expect(server.requests.at(-1)).toEqual(['removeMessage', 's1', 'm4']);
    expect(field().value).toBe('later');
    await act(() => socket.deliver([removed(queuedLog().length + 2)]));
    expect(queue()).toBeNull();
  });

  test('leaves what another page was first to take', async () => {
    const { server, socket } = await showPanel(queuedLog());
    await act(() => void fireEvent.keyDown(field(), { key: 'Escape' }));
    server.fail({ code: 'conflict' }, 409);
    await act(() => socket.deliver([ended()]));
    expect(field().value).toBe('');
  });

  test('leaves it visible beside a draft, to be sent or edited', async () => {
    const { server, socket } = await showPanel(queuedLog());
    const user = userEvent.setup();
    await user.type(field(), 'a draft');
    await act(() => void fireEvent.keyDown(field(), { key: 'Escape' }));
    await act(() => socket.deliver([ended()]));
    expect(field().value).toBe('a draft');
    expect(queue()?.textContent).toContain('Not sent');
    expect(
      within(queue() ?? document.body).getByRole('button', { name: 'Edit' })
    ).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Send now' }));
    expect(server.requests.at(-1)).toEqual(['sendQueued', 's1', 'm4']);
  });
});

test('what a turn left is there to be sent after a reload', async () => {
  const { server } = await showPanel([...queuedLog(), ended()]);
  expect(field().value).toBe('');
  await act(
    () => void fireEvent.click(screen.getByRole('button', { name: 'Send now' }))
  );
  expect(server.requests.at(-1)).toEqual(['sendQueued', 's1', 'm4']);
});

test('nothing is offered to be sent while a turn runs', async () => {
  await showPanel(queuedLog());
  expect(queue()?.textContent).toContain('Queued');
  expect(screen.queryByRole('button', { name: 'Send now' })).toBeNull();
});
