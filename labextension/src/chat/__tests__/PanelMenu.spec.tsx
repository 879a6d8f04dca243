/** The panel's menu, and file names of conversations. */

import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';

import { fileNameOf } from '../sessions/panelActions';
import { showPanel } from './harness';
import { button } from './queries';
import { choose, open } from './panelWithHistory';

describe('the menu of the panel', () => {
  test('takes the panel to another place, and a bubble can be minimised', async () => {
    const { host } = await open();
    expect(screen.queryByRole('button', { name: 'Minimise' })).toBeNull();
    await choose('More', 'Floating bubble');
    expect(host.dock.location).toBe('bubble');
    await userEvent.click(button('Minimise'));
    expect(host.dock.hidden).toBe(true);
    await userEvent.click(button('More'));
    const checked = screen.getByRole('menuitemradio', { checked: true });
    expect(checked.textContent).toBe('Floating bubble');
  });

  test('forks and exports', async () => {
    const { host, server, conversations } = await open();
    await choose('More', 'Export as notebook');
    await choose('More', 'Fork');
    expect(host.done).toEqual([['save', 'Fix the plot.ipynb']]);
    expect(server.requests).toContainEqual(['exportSession', 's1', 'ipynb']);
    expect(conversations.active.sessionId).toBe('fork-of-s1');
  });

  test('says what failed until it is dismissed', async () => {
    const { server } = await open();
    server.fail({ message: 'The disk is full.' });
    await choose('More', 'Fork');
    expect(screen.getByRole('alert').textContent).toContain(
      'The disk is full.'
    );
    await userEvent.click(button('Dismiss'));
    expect(screen.queryByRole('alert')).toBeNull();
  });

  test('offers what an empty conversation can do', async () => {
    await showPanel();
    await userEvent.click(button('More'));
    const items = await screen.findAllByRole('menuitem');
    expect(items.map(({ textContent }) => textContent)).toEqual([
      'Close tab',
      'Agent’s database'
    ]);
    await userEvent.keyboard('{Escape}');
    expect(document.activeElement).toBe(button('More'));
  });
});

test.each([
  ['Plot the prices', 'Plot the prices'],
  ['../../etc/passwd', 'etc-passwd'],
  ['a: b? "c"', 'a- b- -c-'],
  ['', 'conversation'],
  ['...', 'conversation'],
  [`${'a'.repeat(79)}😀`, 'a'.repeat(79)]
])('the title %j becomes the name of a file', (title, name) => {
  expect(fileNameOf(title)).toBe(name);
});
