/** The line below a sub-agent's call. */

import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';

import { session } from '../../../model/__tests__/fakes';
import type { Event, Session } from '../../../wire/generated';
import { act, showPanel } from '../../__tests__/harness';

const TASK = 'Read app.log and count the errors.';

const log = (...more: readonly object[]): Event[] =>
  [
    { type: 'message-add', message_id: 'm1', text: 'Look', queued: false },
    { type: 'turn-start', message_id: 'm1', model: 'a', mode: 'ask' },
    { type: 'step-start', step: 1, limit: 25, tokens_used: 9, window: null },
    {
      type: 'tool-call',
      call_id: 'd1',
      tool: 'delegate',
      arguments: { task: TASK },
      risk: 'read',
      external: false,
      title: 'Sub-agent',
      target: TASK
    },
    { type: 'tool-start', call_id: 'd1' },
    ...more
  ].map((event, index) => ({
    raw: null,
    invalid: null,
    attachments: [],
    context: null,
    ...event,
    seq: index + 1,
    session_id: 's1',
    turn_id: 't1',
    at: '2026-11-29T12:00:00Z'
  })) as unknown as Event[];

const progress = (text: string): object => ({
  type: 'tool-progress',
  call_id: 'd1',
  channel: 'status',
  text: `${text}\n`
});

const result = (data: object): object => ({
  type: 'tool-result',
  call_id: 'd1',
  tool: 'delegate',
  status: 'ok',
  result: { ok: true, kind: 'text', data, warning: null, error: null },
  content: [],
  duration_ms: 5,
  handle: null
});

const child = (more: Partial<Session>): Session =>
  session('sub_1', {
    source: 'delegate',
    kind: 'run',
    parent: { session_id: 's1', call_id: 'd1', turn_id: 't1' },
    ...more
  });

const line = (): HTMLElement | null =>
  document.querySelector('.shoulders-SubAgent');

test('shows the step, then that it waits, and leads to its conversation', async () => {
  const { conversations } = await showPanel(
    log(
      progress('Step 1 of 15 · thinking'),
      progress('Step 2 of 15 · Read file')
    )
  );
  expect(line()?.textContent).toBe('Step 2 of 15 · Read file');
  expect(
    screen.queryByRole('button', { name: 'Open conversation' })
  ).toBeNull();

  await act(() =>
    conversations.history.receive([
      session('s1'),
      child({ status: 'waiting', cost_micro_usd: 30_000 })
    ])
  );
  expect(line()?.textContent).toContain('Waiting for you · $0.03');
  await userEvent.click(
    screen.getByRole('button', { name: 'Open conversation' })
  );
  expect(conversations.active.sessionId).toBe('sub_1');
});

test('shows cost, summary and places that do not exist', async () => {
  await showPanel(
    log(
      result({
        conversation: 'sub_1',
        summary: 'Seven **errors**.',
        cost_micro_usd: 20_000,
        steps: 4,
        citations: [{ found: true }, { found: false }]
      })
    )
  );
  expect(line()?.textContent).toContain(
    '4 steps · $0.02 · one cited place does not exist'
  );
  expect(line()?.textContent).not.toContain('Seven');
  await userEvent.click(screen.getByRole('button', { name: 'Summary' }));
  expect(line()?.textContent).toContain('Seven errors.');
});

test('a call that never began shows no way to a conversation', async () => {
  await showPanel(log(result({})));
  expect(line()?.textContent).toBe('');
});

test('lists have sub-agents only where their source is chosen', async () => {
  const { conversations } = await showPanel();
  const { history } = conversations;
  history.receive([child({}), session('s9')]);
  expect(history.found.map(({ id }) => id)).not.toContain('sub_1');
  expect(history.subAgent('s1', 'd1')?.id).toBe('sub_1');
  await history.find({ source: 'delegate' });
  expect(history.found.map(({ id }) => id)).toEqual(['sub_1']);
});

test('its conversation leads back to the one it works for', async () => {
  const { conversations, server } = await showPanel(log());
  server.logs.set('sub_1', []);
  await act(() => {
    conversations.history.receive([child({})]);
    conversations.open('sub_1');
  });
  await userEvent.click(screen.getByRole('button', { name: 'Back to it' }));
  expect(conversations.active.sessionId).toBe('s1');
});
