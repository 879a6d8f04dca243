/** The bar about AI settings that came with the folder. */

import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';

import { FakeSocket } from '../../model/__tests__/fakes';
import { FakeFolder, item } from '../../trust/__tests__/fakes';
import { FolderTrustStore } from '../../trust/store';
import type { TrustItem } from '../../wire/generated';
import { act, frame, showPanel } from './harness';

async function panelOf(...items: readonly TrustItem[]) {
  const folder = new FakeFolder();
  folder.have(...items);
  const store = new FolderTrustStore(folder, new FakeSocket());
  const panel = await showPanel([], (_, host) => {
    host.folderTrust = store;
  });
  return { ...panel, folder, store, user: userEvent.setup() };
}
const bar = () =>
  screen.queryByRole('region', { name: 'This folder’s settings' });

test('names what waits, and leads to the review', async () => {
  const { host, user } = await panelOf(item('rule'), item('program'));
  expect(bar()?.textContent).toContain(
    'This folder has its own AI settings: 1 permission rule, 1 MCP server.'
  );
  await user.click(screen.getByRole('button', { name: 'Review…' }));
  expect(host.done).toEqual([['review folder']]);
});

test('goes with “Not now”, which leaves the cursor in the input', async () => {
  const { user, folder } = await panelOf(item('rule'));
  await user.click(screen.getByRole('button', { name: 'Not now' }));
  await frame();
  expect(bar()).toBeNull();
  expect(document.activeElement?.tagName).toBe('TEXTAREA');
  expect(folder.answers).toEqual([]);
});

test('goes when the last item was answered elsewhere', async () => {
  const { store } = await panelOf(item('rule'));
  await act(() => store.answer({ decline: ['id of rule'] }));
  expect(bar()).toBeNull();
});

test('is not there when nothing waits', async () => {
  await panelOf(
    item('program', { state: 'declined' }),
    item('rule', { state: 'trusted' })
  );
  expect(bar()).toBeNull();
});
