/** Queries and events for tests of the panel. */

import { screen } from '@testing-library/react';

import { fixture } from '../../model/__tests__/reducerFixtures';
import type { Event } from '../../wire/generated';

/** The events of a fixture. */
export const log = (name: string): Event[] => fixture(name).events;

/** Fields of every event of the first turn. */
export const base = { session_id: 's1', turn_id: 't1', at: '' };

/** The input. */
export const field = () =>
  screen.getByPlaceholderText<HTMLTextAreaElement>(/…$/);

export const button = (name: string | RegExp): HTMLElement =>
  screen.getByRole('button', { name });
