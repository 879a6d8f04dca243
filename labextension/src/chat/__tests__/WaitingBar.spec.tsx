/** The bar about questions in conversations that are not shown. */

import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';

import { session } from '../../model/__tests__/fakes';
import type { Session } from '../../wire/generated';
import { act, showPanel } from './harness';

const bar = () =>
  screen.queryByRole('region', { name: 'Questions in other conversations' });

async function panelWith(...sessions: readonly Session[]) {
  const panel = await showPanel();
  const update = (...news: readonly Session[]) =>
    act(() => panel.conversations.history.receive(news));
  await update(...sessions);
  return { ...panel, update };
}

test('leads to the conversation that asks, and goes when it is shown', async () => {
  const asking = session('s9', { status: 'waiting', title: 'Claude Code' });
  const { conversations } = await panelWith(asking);
  expect(bar()?.textContent).toContain('“Claude Code” waits for your answer.');
  await userEvent.click(screen.getByRole('button', { name: 'Show' }));
  expect(conversations.active.sessionId).toBe('s9');
  expect(bar()).toBeNull();
});

test('counts several', async () => {
  await panelWith(
    session('s8', { status: 'waiting' }),
    session('s9', { status: 'waiting' })
  );
  expect(bar()?.textContent).toContain('2 other conversations wait');
});

test('goes when the question was answered elsewhere', async () => {
  const { update } = await panelWith(session('s9', { status: 'waiting' }));
  await update(session('s9', { status: 'running' }));
  expect(bar()).toBeNull();
});

test('leaves threads to the marks in their documents', async () => {
  await panelWith(session('s9', { status: 'waiting', kind: 'task' }));
  expect(bar()).toBeNull();
});
