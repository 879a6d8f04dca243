/** The page of the memory. */

import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';

import { statement } from '../../__tests__/fakeMemory';
import { act, press, show } from '../../__tests__/renderSettings';

const SEABORN = statement('p-1', 'Prefers seaborn for plots.', {
  session_id: 's1'
});
const RAW = statement('w-2', 'Plates are in raw/', { date: null });

test('statements are listed with date and conversation, edited, deleted and brought back', async () => {
  const { api, user, done, container } = await show('memory', ({ memory }) => {
    memory.statements = [SEABORN, RAW];
  });
  const line = screen.getByRole('listitem', { name: SEABORN.text });
  expect(line.textContent).toContain('2026');
  await user.click(
    within(line).getByRole('button', {
      name: `Conversation of: ${SEABORN.text}`
    })
  );
  expect(done).toEqual([['conversation', 's1']]);
  expect(container.textContent).toContain('written by hand');

  await press(user, `Edit: ${SEABORN.text}`);
  const field = screen.getByLabelText('Statement');
  expect(document.activeElement).toBe(field);
  await user.clear(field);
  await user.type(field, 'Prefers plotly for plots.{Enter}');
  await act();
  expect(api.memory.asked).toEqual([
    ['edit', 'p-1', 'Prefers plotly for plots.']
  ]);

  await press(user, 'Delete: Prefers plotly for plots.');
  expect(api.memory.statements).toEqual([RAW]);
  expect(container.textContent).toContain('Deleted: Prefers plotly for plots.');
  expect(document.activeElement?.textContent).toBe('Add…');
  await press(user, 'Undo');
  expect(api.memory.statements).toHaveLength(2);
  expect(container.textContent).not.toContain('Deleted:');
});

test('a statement is added to the file that is meant, and a cancelled one is not', async () => {
  const { api, user } = await show('memory');
  await press(user, 'Add a statement about this folder');
  await user.type(screen.getByLabelText('New statement'), 'x{Escape}');
  await act();
  expect(api.memory.asked).toEqual([]);

  await press(user, 'Add a statement about this folder');
  await user.type(screen.getByLabelText('New statement'), RAW.text);
  await press(user, 'Add');
  expect(api.memory.asked).toEqual([
    ['add', { text: RAW.text, scope: 'workspace', preference: false }]
  ]);
});

test('preferences are statements of the user: added, changed and removed', async () => {
  const { api, user } = await show('memory');
  const field = screen.getByLabelText('Plotting library');
  await user.type(field, 'seaborn');
  await press(user, 'Save');
  expect(api.memory.statements).toMatchObject([
    { text: 'Plotting library: seaborn', section: 'Preferences' }
  ]);
  await user.type(field, ' 0.13{Enter}');
  await act();
  expect(api.memory.asked.at(-1)?.[2]).toBe('Plotting library: seaborn 0.13');
  await user.clear(field);
  await press(user, 'Save');
  expect(api.memory.statements).toEqual([]);
});

test('what came with the folder is marked, and a memory that is off says so', async () => {
  const { container, unmount } = await show('memory', ({ memory }) => {
    memory.statements = [{ ...RAW, state: 'new' }];
  });
  expect(container.textContent).toContain('came with the folder');
  unmount();

  const off = await show('memory', ({ memory }) => {
    memory.enabled = false;
  });
  expect(off.container.textContent).toContain('The memory is switched off');
  expect(screen.queryByLabelText('Plotting library')).toBeNull();
});
