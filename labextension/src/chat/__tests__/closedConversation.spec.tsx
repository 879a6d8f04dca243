/** Read-only and deleted conversations, and a server that cannot store anything. */

import { fireEvent, screen } from '@testing-library/react';
import { describe, expect, test } from 'vitest';

import { problem, session, status } from '../../model/__tests__/fakes';
import type { Event } from '../../wire/generated';
import { act, showPanel } from './harness';
import { base, button, field, log } from './queries';

describe('a conversation that can only be read', () => {
  const future = { ...base, seq: 15, type: 'from-the-future' };

  test('is shown as far as it is understood, and says so', async () => {
    const events = log('streamed-text');
    const seq = (events.at(-1)?.seq ?? 0) + 1;
    // What a newer server may have written.
    const news = { ...future, seq } as unknown as Event;
    const { container, host, conversations } = await showPanel([
      ...events,
      news
    ]);
    expect(container.textContent).toContain('Hello world');
    expect(screen.getByText('This conversation is read-only.')).toBeTruthy();
    expect(screen.getByPlaceholderText(/is read-only/)).toHaveProperty(
      'disabled',
      true
    );
    fireEvent.click(button('Export'));
    expect(host.done).toEqual([['save', 'Fix the plot.md']]);
    fireEvent.click(screen.getByText('New conversation'));
    expect(conversations.tabs).toHaveLength(2);
  });

  test('is known from a refused message too; what cannot be exported is not offered', async () => {
    const { server } = await showPanel(log('streamed-text'));
    server.exportSession = async () => Promise.reject(new Error('no'));
    server.fail({ code: 'quarantined', message: 'Unreadable.' }, 409);
    fireEvent.change(field(), { target: { value: 'hi' } });
    fireEvent.keyDown(field(), { key: 'Enter' });
    await act(() => {});
    expect(screen.getByText('This conversation is read-only.')).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Export' })).toBeNull();
  });

  test('was set aside by the server with its turn open', async () => {
    const events = log('interrupted');
    const seq = (events.at(-1)?.seq ?? 0) + 1;
    const aside: Event = {
      ...base,
      seq,
      type: 'session-update',
      quiet: false,
      session: session('s1', { status: 'error', tools: 'disabled' })
    };
    const { container, socket } = await showPanel(events);
    expect(button('Resume')).toBeTruthy();
    await act(() => socket.deliver([aside]));
    expect(screen.getByText(/can no longer continue it/)).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Resume' })).toBeNull();
    expect(container.querySelector('.shoulders-Status')).toBeNull();
  });

  const refused = {
    ...problem,
    code: 'not_found' as const,
    details: { session_id: 's1' }
  };

  test.each([
    { type: 'session-delete' as const, session_id: 's1' },
    { type: 'frame-error' as const, error: refused }
  ])(
    'was deleted in another page, and can be brought back: $type',
    async frame => {
      const { server, socket } = await showPanel(log('streamed-text'));
      await act(() => socket.frameReceived.emit(frame));
      expect(screen.getByText('This conversation was deleted.')).toBeTruthy();
      fireEvent.click(button('Restore'));
      await act(() => {});
      expect(server.requests).toContainEqual(['undeleteSession', 's1']);
      expect(screen.queryByText('This conversation was deleted.')).toBeNull();
      expect(field().disabled).toBe(false);
    }
  );
});

test('a conversation deleted in another page is gone from the history', async () => {
  const { socket, conversations } = await showPanel([], server => {
    server.sessionList = [session('s2'), session('s3')];
  });
  await act(() =>
    socket.frameReceived.emit({ type: 'session-delete', session_id: 's2' })
  );
  const left = conversations.history.all.map(({ id }) => id);
  expect(left).toEqual(['s3']);
});

test('a session the server no longer lists is gone from the history', async () => {
  const at = (day: number): string => `2026-11-0${day}T10:00:00Z`;
  const { server, conversations } = await showPanel([], server => {
    server.sessionList = [1, 2, 3].map(day =>
      session(`s${day}`, { updated_at: at(day) })
    );
  });
  conversations.history.receive([session('s9', { updated_at: at(9) })]);
  server.sessionList = server.sessionList
    .filter(({ id }) => id !== 's2')
    .reverse();
  await conversations.history.find({ text: '' });
  // A session created during the request stays.
  expect(conversations.history.all.map(({ id }) => id)).toEqual([
    's9',
    's3',
    's1'
  ]);
});

test('a state directory that cannot be used is said until it can', async () => {
  const { server } = await showPanel([], server => {
    server.serverStatus = {
      ...status,
      state_directory_error: { ...problem, message: 'The disk is full.' }
    };
  });
  expect(screen.getByRole('alert').textContent).toContain('The disk is full.');
  server.serverStatus = status;
  fireEvent.click(button('Check again'));
  await act(() => {});
  expect(screen.queryByRole('alert')).toBeNull();
});
