/** Conversations as tabs. */

import { fireEvent, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';

import { act, frame } from './harness';
import { button } from './queries';
import { open, second } from './panelWithHistory';

const titles = (): (string | null)[] =>
  screen.getAllByRole('tab').map(({ textContent }) => textContent);

describe('the tabs', () => {
  test('are chosen, put elsewhere and closed by keyboard, and keep the focus', async () => {
    const { conversations } = await open();
    await act(() => conversations.open('s2'));
    await act(() => conversations.history.receive([second]));
    await frame(); // The opened conversation has taken the focus.
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
    await point('pointermove', 140); // Over the other tab, not beyond its middle.
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
    expect(server.requests.at(-1)).toEqual([
      'patchSession',
      's1',
      { title: 'Better' }
    ]);
    screen.getByRole('tab').focus();
    await userEvent.keyboard('{F2}Worse{Escape}');
    expect(screen.queryByLabelText('Title')).toBeNull();
    expect(server.requests.flat()).not.toContainEqual({ title: 'Worse' });
  });

  test('keep a title being written while the window is left', async () => {
    const { server } = await open();
    await userEvent.dblClick(screen.getByRole('tab'));
    await userEvent.keyboard('Bett');
    const title = screen.getByLabelText('Title');
    fireEvent.blur(title); // The window lost the focus, not the field.
    expect(screen.getByLabelText('Title')).toBe(title);
    expect(server.requests.flat()).not.toContainEqual({ title: 'Bett' });
    await userEvent.keyboard('er{Enter}');
    expect(server.requests.at(-1)?.[2]).toEqual({ title: 'Better' });
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
