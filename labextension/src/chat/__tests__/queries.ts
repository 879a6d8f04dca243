/** What the tests of the panel look for on the screen, and the events they show. */

import { screen } from '@testing-library/react';

import { fixture } from '../../model/__tests__/reducerFixtures';
import type { Event } from '../../wire/generated';

/** The events of a fixture. */
export const log = (name: string): Event[] => fixture(name).events;

/** What every event of the first turn has. */
export const base = { session_id: 's1', turn_id: 't1', at: '' };

/** The input. */
export const field = () =>
  screen.getByPlaceholderText<HTMLTextAreaElement>(/…$/);

export const button = (name: string | RegExp): HTMLElement =>
  screen.getByRole('button', { name });
