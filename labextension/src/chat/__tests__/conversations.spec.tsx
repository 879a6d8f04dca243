/** Conversations as tabs, the history, and the panel's menu. */

import { fireEvent, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';

import { session } from '../../model/__tests__/fakes';
import { fixture } from '../../model/__tests__/fixtures';
import type { Event, Session } from '../../wire/generated';
import { fileNameOf } from '../actions';
import { act, frame, showPanel } from './harness';

const button = (name: string | RegExp): HTMLElement =>
  screen.getByRole('button', { name });

const log = (): Event[] =>
  fixture('streamed-text').events.map(event => ({
    ...event,
    session_id: 's1'
  }));

const second = session('s2', { title: 'Second', updated_at: '2026-11-20' });
const third = session('s3', {
  title: 'Third',
  kind: 'run',
  source: 'http',
  updated_at: '2026-11-19'
});

/** A conversation in a tab, and others in the history. */
const open = (...others: Session[]) =>
  showPanel(log(), server => {
    server.sessionList = others;
  });

const titles = (): (string | null)[] =>
  screen.getAllByRole('tab').map(({ textContent }) => textContent);

async function choose(menu: string | RegExp, item: string): Promise<void> {
  await userEvent.click(button(menu));
  await userEvent.click(
    screen.getByRole(/bar|bubble/.test(item) ? 'menuitemradio' : 'menuitem', {
      name: item
    })
  );
  await act(() => {});
}

describe('the tabs', () => {
  test('are chosen, put elsewhere and closed by keyboard, and keep the focus', async () => {
    const { conversations } = await open();
    await act(() => conversations.open('s2'));
    await act(() => conversations.history.receive([second]));
    await frame(); // What was opened has taken the focus.
    expect(titles()).toEqual(['Fix the plot', 'Second']);
    const [first] = screen.getAllByRole('tab');
    first?.focus();
    const press = async (...keys: string[]): Promise<void> => {
      await userEvent.keyboard(keys.join(''));
      await frame();
    };
    await press('{ArrowRight}');
    expect(document.activeElement?.textContent).toBe('Fix the plot');
    await press('{End}');
    expect(document.activeElement?.textContent).toBe('Second');
    await press('{Control>}{Shift>}{ArrowLeft}{/Shift}{/Control}');
    expect(titles()).toEqual(['Second', 'Fix the plot']);
    await press('{Delete}');
    expect(titles()).toEqual(['Fix the plot']);
    expect(document.activeElement?.textContent).toBe('Fix the plot');
    await press('{Delete}');
    expect(titles()).toEqual(['New conversation']);
    expect(document.activeElement?.textContent).toBe('New conversation');
  });

  test('are dragged to another place, and a click that trembles is a click', async () => {
    const { conversations } = await open();
    await act(() => conversations.open('s2'));
    await act(() => conversations.history.receive([second]));
    const list = screen.getByRole('tablist');
    list.setPointerCapture = () => {};
    [...list.children].forEach((tab, index) => {
      tab.getBoundingClientRect = () => new DOMRect(index * 100, 0, 100, 30);
    });
    const [first] = screen.getAllByRole('tab');
    const point = (type: string, clientX: number, target: Element = list) =>
      act(() => {
        const init = { bubbles: true, button: 0, clientX };
        fireEvent(target, new MouseEvent(type, init)); // jsdom has no pointer events.
      });
    await point('pointerdown', 10, first);
    await point('pointermove', 14);
    await point('pointerup', 14);
    await point('pointermove', 180);
    expect(titles()).toEqual(['Fix the plot', 'Second']);
    await point('pointerdown', 10, first);
    await point('pointermove', 140); // Over the other, not beyond its middle.
    expect(titles()).toEqual(['Fix the plot', 'Second']);
    await point('pointermove', 160);
    expect(titles()).toEqual(['Second', 'Fix the plot']);
  });

  test('are closed with the mouse', async () => {
    const { conversations } = await open();
    await act(() => conversations.create());
    const close = screen.getByTitle('Close Fix the plot');
    expect(close.tabIndex).toBe(-1);
    await userEvent.click(close);
    expect(titles()).toEqual(['New conversation']);
    await act(() => conversations.open('s1'));
    const [, opened] = screen.getAllByRole('tab');
    const middle = new MouseEvent('auxclick', { button: 1, bubbles: true });
    fireEvent(opened ?? document, middle);
    expect(titles()).toEqual(['New conversation']);
  });

  test('change their title in place', async () => {
    const { server } = await open();
    await userEvent.dblClick(screen.getByRole('tab'));
    await userEvent.keyboard('Better{Enter}');
    await act(() => {});
    expect(server.asked.at(-1)).toEqual([
      'patchSession',
      's1',
      { title: 'Better' }
    ]);
    screen.getByRole('tab').focus();
    await userEvent.keyboard('{F2}Worse{Escape}');
    expect(screen.queryByLabelText('Title')).toBeNull();
    expect(server.asked.flat()).not.toContainEqual({ title: 'Worse' });
  });

  test('keep a title being written while the window is left', async () => {
    const { server } = await open();
    await userEvent.dblClick(screen.getByRole('tab'));
    await userEvent.keyboard('Bett');
    const title = screen.getByLabelText('Title');
    fireEvent.blur(title); // The field keeps being what has the focus in the window.
    expect(screen.getByLabelText('Title')).toBe(title);
    expect(server.asked.flat()).not.toContainEqual({ title: 'Bett' });
    await userEvent.keyboard('er{Enter}');
    expect(server.asked.at(-1)?.[2]).toEqual({ title: 'Better' });
  });

  test('name the panel they show, and none while the history is shown', async () => {
    const { conversations } = await open();
    const { key } = conversations.active;
    const shown = screen.getByRole('tabpanel');
    expect(shown.getAttribute('aria-labelledby')).toBe(`shoulders-tab-${key}`);
    await userEvent.click(button('History'));
    const tab = screen.getByRole('tab');
    expect(tab.getAttribute('aria-selected')).toBe('false');
    expect(tab.tabIndex).toBe(0);
    await userEvent.click(tab);
    expect(screen.queryByRole('region', { name: 'History' })).toBeNull();
  });
});

describe('the menu of the panel', () => {
  test('takes the panel to another place, and a bubble can be minimised', async () => {
    const { host } = await open();
    expect(screen.queryByRole('button', { name: 'Minimise' })).toBeNull();
    await choose('More', 'Floating bubble');
    expect(host.dock.place).toBe('bubble');
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
    expect(server.asked).toContainEqual(['exportSession', 's1', 'ipynb']);
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
    expect(items.map(({ textContent }) => textContent)).toEqual(['Close tab']);
    await userEvent.keyboard('{Escape}');
    expect(document.activeElement).toBe(button('More'));
  });
});

describe('the history', () => {
  test('opens, renames and filters', async () => {
    const { server, conversations } = await open(second, third);
    await userEvent.click(button('History'));
    expect(screen.getByText('Runs', { selector: 'span' })).toBeTruthy();
    await userEvent.selectOptions(screen.getByLabelText('Kind'), 'Chats');
    await act(() => {});
    expect(screen.queryByText('Third')).toBeNull();
    await userEvent.selectOptions(screen.getByLabelText('Kind'), 'All kinds');
    await userEvent.selectOptions(screen.getByLabelText('Source'), 'HTTP');
    await act(() => {});
    expect(screen.queryByText('Second')).toBeNull();
    await choose('More about Third', 'Rename');
    await userEvent.keyboard('Renamed{Enter}');
    await act(() => {});
    expect(server.asked).toContainEqual([
      'patchSession',
      's3',
      { title: 'Renamed' }
    ]);
    await userEvent.selectOptions(screen.getByLabelText('Source'), 'Schedule');
    await act(() => {});
    expect(screen.getByText('No conversation matches.')).toBeTruthy();
    await userEvent.selectOptions(
      screen.getByLabelText('Source'),
      'All sources'
    );
    await act(() => {});
    await userEvent.click(screen.getByText('Second'));
    expect(conversations.active.sessionId).toBe('s2');
    expect(screen.queryByLabelText('Search conversations')).toBeNull();
  });

  test('is walked through by keyboard', async () => {
    const { conversations } = await open(second, third);
    await userEvent.click(button('History'));
    expect(document.activeElement).toBe(
      screen.getByLabelText('Search conversations')
    );
    await userEvent.keyboard('{ArrowDown}{ArrowDown}{ArrowDown}');
    expect(document.activeElement?.textContent).toContain('Third');
    await userEvent.keyboard('{ArrowUp}{Enter}');
    expect(conversations.active.sessionId).toBe('s2');
    await userEvent.click(button('History'));
    await userEvent.keyboard('{Escape}');
    expect(screen.queryByRole('region', { name: 'History' })).toBeNull();
  });

  test('deletes, and brings back', async () => {
    const { server, conversations } = await open(second, third);
    await act(() => conversations.open('s2'));
    await userEvent.click(button('History'));
    screen.getByRole('button', { name: /^Second/ }).focus();
    await userEvent.keyboard('{Delete}');
    await act(() => {});
    expect(server.asked.at(-1)).toEqual(['deleteSession', 's2']);
    expect(conversations.tabs.map(tab => tab.sessionId)).toEqual(['s1']);
    expect(document.activeElement).toBe(button('Undo'));
    await userEvent.keyboard('{Enter}');
    await act(() => {});
    expect(server.asked).toContainEqual(['undeleteSession', 's2']);
    expect(conversations.active.sessionId).toBe('s2');
    expect(screen.queryByText(/^Deleted/)).toBeNull();
  });

  test('keeps a title being written, and its row, when something happens in the conversation', async () => {
    const { server, conversations } = await open(second, third);
    await userEvent.click(button('History'));
    await choose('More about Third', 'Rename');
    const rows = () =>
      [...document.querySelectorAll('.shoulders-History-row')].map(
        row => row.querySelector('input')?.value ?? row.textContent
      );
    await userEvent.keyboard('Half a ti');
    const places = rows().map(text => text.slice(0, 6));
    const later = '2026-11-21T12:00:00Z'; // Before the change of the title below.
    await act(() =>
      conversations.history.receive([{ ...third, updated_at: later }])
    );
    expect(rows().map(text => text.slice(0, 6))).toEqual(places);
    await userEvent.keyboard('tle{Enter}');
    await frame();
    expect(server.asked.at(-1)?.[2]).toEqual({ title: 'Half a title' });
    expect(document.activeElement?.textContent).toContain('Half a title');
    await act(() => screen.getByLabelText('Search conversations').focus());
    expect(rows()[0]).toContain('Half a title'); // Now it may move.
  });

  test('does not take the focus back from where the user went after a rename', async () => {
    await open(second, third);
    await userEvent.click(button('History'));
    await choose('More about Third', 'Rename');
    await userEvent.keyboard('Better');
    await userEvent.click(screen.getByLabelText('Search conversations'));
    await frame();
    expect(document.activeElement).toBe(
      screen.getByLabelText('Search conversations')
    );
  });

  test('asks before it stops an agent at work', async () => {
    const { server, host } = await open({ ...second, status: 'running' });
    host.sure = false;
    await userEvent.click(button('History'));
    const row = screen.getByText('Second').closest('li');
    expect(within(row as HTMLElement).getByLabelText('Working')).toBeTruthy();
    await choose('More about Second', 'Delete');
    expect(server.asked.flat()).not.toContain('deleteSession');
    host.sure = true;
    await choose('More about Second', 'Delete');
    expect(server.asked.flat()).toContain('deleteSession');
  });

  test('shows what a title hides', async () => {
    await open(session('s2', { title: 'invoice\u202excod.exe' }));
    await userEvent.click(button('History'));
    expect(screen.getByText('invoice⟨U+202E⟩xcod.exe')).toBeTruthy();
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
