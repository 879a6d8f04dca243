/** The history in the panel. */

import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';

import { session } from '../../../model/__tests__/fakes';
import { act, frame } from '../../__tests__/harness';
import { button } from '../../__tests__/queries';
import { choose, open, second, third } from '../../__tests__/panelWithHistory';

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
    await choose('More actions for Third', 'Rename');
    await userEvent.keyboard('Renamed{Enter}');
    await act(() => {});
    expect(server.requests).toContainEqual([
      'patchSession',
      's3',
      { title: 'Renamed' }
    ]);
    await userEvent.selectOptions(screen.getByLabelText('Source'), 'Schedule');
    await act(() => {});
    expect(screen.getByText('No matching conversations.')).toBeTruthy();
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
    expect(server.requests.at(-1)).toEqual(['deleteSession', 's2']);
    expect(conversations.tabs.map(tab => tab.sessionId)).toEqual(['s1']);
    expect(document.activeElement).toBe(button('Undo'));
    await userEvent.keyboard('{Enter}');
    await act(() => {});
    expect(server.requests).toContainEqual(['undeleteSession', 's2']);
    expect(conversations.active.sessionId).toBe('s2');
    expect(screen.queryByText(/^Deleted/)).toBeNull();
  });

  test('keeps a title being written, and its row, when something happens in the conversation', async () => {
    const { server, conversations } = await open(second, third);
    await userEvent.click(button('History'));
    await choose('More actions for Third', 'Rename');
    const rows = () =>
      [...document.querySelectorAll('.shoulders-History-row')].map(
        row => row.querySelector('input')?.value ?? row.textContent
      );
    await userEvent.keyboard('Half a ti');
    const places = rows().map(text => text.slice(0, 6));
    const later = '2026-11-21T12:00:00Z'; // Before the title changes below.
    await act(() =>
      conversations.history.receive([{ ...third, updated_at: later }])
    );
    expect(rows().map(text => text.slice(0, 6))).toEqual(places);
    await userEvent.keyboard('tle{Enter}');
    await frame();
    expect(server.requests.at(-1)?.[2]).toEqual({ title: 'Half a title' });
    expect(document.activeElement?.textContent).toContain('Half a title');
    await act(() => screen.getByLabelText('Search conversations').focus());
    expect(rows()[0]).toContain('Half a title'); // Now it may move.
  });

  test('does not take the focus back from where the user went after a rename', async () => {
    await open(second, third);
    await userEvent.click(button('History'));
    await choose('More actions for Third', 'Rename');
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
    await choose('More actions for Second', 'Delete');
    expect(server.requests.flat()).not.toContain('deleteSession');
    host.sure = true;
    await choose('More actions for Second', 'Delete');
    expect(server.requests.flat()).toContain('deleteSession');
  });

  test('shows what a title hides', async () => {
    await open(session('s2', { title: 'invoice\u202excod.exe' }));
    await userEvent.click(button('History'));
    expect(screen.getByText('invoice⟨U+202E⟩xcod.exe')).toBeTruthy();
  });
});
