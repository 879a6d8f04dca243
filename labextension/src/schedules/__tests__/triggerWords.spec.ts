import { expect, test } from 'vitest';

import { trans } from '../../settings/__tests__/fakes';
import {
  cronWords,
  formatMoment,
  spanWords,
  triggerWords,
  type Trigger
} from '../triggerWords';

test.each([
  ['0 9 * * *', 'Every day at 09:00'],
  [' 30 8 * * 1-5 ', 'Every weekday at 08:30'],
  ['5 0 * * MON-FRI', 'Every weekday at 00:05'],
  ['0 9 1 * *', 'On day 1 of each month at 09:00'],
  ['15 * * * *', 'Every hour at minute 15'],
  ['0 9 * * 0', 'Every Sunday at 09:00'],
  ['0 9 * * 7', 'Every Sunday at 09:00'],
  ['0 9 * * mon,Wed', 'Every Monday, Wednesday at 09:00'],
  // Both a day and a weekday mean either, which no sentence above says.
  ['0 9 1 * 1', 'Cron 0 9 1 * 1'],
  ['0 9 * * mon,8', 'Cron 0 9 * * mon,8'],
  ['0 9 * 3 *', 'Cron 0 9 * 3 *'],
  ['*/5 * * * *', 'Cron */5 * * * *'],
  ['\u202e1', 'Cron ⟨U+202E⟩1']
])('the expression %j is %s', (expression, words) => {
  expect(cronWords(expression, trans)).toBe(words);
});

test.each([
  [30, '30 s'],
  [90, '90 s'],
  [900, '15 min'],
  [5400, '90 min'],
  [7200, '2 h'],
  [86_400, '1 day'],
  [172_800, '2 days']
])('%d seconds are %s', (seconds, words) => {
  expect(spanWords(seconds, trans)).toBe(words);
});

test.each<[Trigger, string]>([
  [{ kind: 'interval', seconds: 1800 }, 'Every 30 min'],
  [
    { kind: 'cron', expression: '0 9 * * *', time_zone: 'Asia/Tokyo' },
    'Every day at 09:00, Asia/Tokyo'
  ],
  [
    { kind: 'files', globs: ['a/*.csv', 'b\u202e'], settle_s: 5 },
    'When a/*.csv, b⟨U+202E⟩ changes'
  ],
  [{ kind: 'once', at: 'soon', time_zone: 'UTC' }, 'Once, soon']
])('the trigger %j is "%s"', (trigger, words) => {
  expect(triggerWords(trigger, trans)).toBe(words);
});

test('a moment names its year unless it is this one', () => {
  const year = new Date().getFullYear();
  expect(formatMoment(`${year}-06-01T12:00:00`)).not.toContain(String(year));
  expect(formatMoment('2001-06-01T12:00:00')).toContain('2001');
});
