/** The panel with one conversation and others in the history, for tests of tabs, menu and history. */

import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';

import { session } from '../../model/__tests__/fakes';
import type { Session } from '../../wire/generated';
import { act, showPanel } from './harness';
import { button, log } from './queries';

export const second = session('s2', {
  title: 'Second',
  updated_at: '2026-11-20'
});
export const third = session('s3', {
  title: 'Third',
  kind: 'run',
  source: 'http',
  updated_at: '2026-11-19'
});

/** One conversation in a tab, others in the history. */
export const open = (...others: Session[]) =>
  showPanel(
    log('streamed-text').map(event => ({ ...event, session_id: 's1' })),
    server => {
      server.sessionList = others;
    }
  );

/** Choose a menu item. */
export async function choose(
  menu: string | RegExp,
  item: string
): Promise<void> {
  await userEvent.click(button(menu));
  await userEvent.click(
    screen.getByRole(/bar|bubble/.test(item) ? 'menuitemradio' : 'menuitem', {
      name: item
    })
  );
  await act(() => {});
}
