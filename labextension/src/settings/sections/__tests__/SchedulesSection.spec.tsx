/** The limits of schedules, and the size of the agent's database. */

import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';

import type { Section } from '../../SettingsPage';
import { act, show } from '../../__tests__/renderSettings';

test.each<[Section, string, string, unknown]>([
  ['schedules', 'Runs per day', '3', { schedules: { runs_per_day: 3 } }],
  ['schedules', 'Shortest interval', '59', null],
  ['schedules', 'Cost per day', '2.50', { schedules: { usd_per_day: 2.5 } }],
  ['schedules', 'Active schedules', 'many', null],
  [
    'schedules',
    'Quiet hours',
    '22:00-07:00 Europe/Berlin',
    { schedules: { quiet_hours: '22:00-07:00 Europe/Berlin' } }
  ],
  ['schedules', 'Quiet hours', '22:00-25:00 UTC', null],
  [
    'schedules',
    'Days ahead, at most',
    '14',
    { schedules: { longest_agent_days: 14 } }
  ],
  ['database', 'Largest size', '250', { agent_database: { limit_mb: 250 } }],
  ['database', 'Largest size', '0', null]
])('in %s the field “%s” takes “%s”', async (section, name, text, sent) => {
  const { api, user } = await show(section);
  const field = screen.getByRole('textbox', { name });
  await user.clear(field);
  await user.type(field, `${text}{Enter}`);
  await act();
  const stored = api.asked
    .filter(([what]) => what === 'putSettings')
    .map(([, body]) => body);
  expect(stored).toEqual(sent === null ? [] : [expect.objectContaining(sent)]);
  expect(screen.queryAllByRole('alert')).toHaveLength(sent === null ? 1 : 0);
});

test('a limit of the administrator is shown and cannot be changed', async () => {
  await show('schedules', api => {
    api.held = {
      ...api.held,
      locks: { 'schedules.runs_per_day': 'It is the trait Shoulders.settings.' }
    };
  });
  expect(screen.getByRole('textbox', { name: 'Runs per day' })).toHaveProperty(
    'disabled',
    true
  );
  expect(
    screen.getByText(/Locked by your administrator\. It is the trait/)
  ).toBeTruthy();
});
