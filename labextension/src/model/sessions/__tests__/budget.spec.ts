import { describe, expect, test } from 'vitest';

import type { NoticeView } from '../../../wire/generated';
import {
  budgetClient,
  parseDollars,
  raises,
  reachedIn,
  writeDollars
} from '../budget';
import { FakeServer, noBudget } from '../../__tests__/fakes';

const notice = (details: NoticeView['details']): NoticeView => ({
  type: 'notice',
  level: 'warning',
  code: 'turn_limit',
  text: 'Stop.',
  call_id: null,
  details
});
const reached = (limit: number | null, spent: number | null) => ({
  scope: 'turn' as const,
  limit,
  spent
});

describe('the limit that was reached', () => {
  test('is reported by the notice', () => {
    const details = { limit_micro_usd: 500_000, spent_micro_usd: 520_000 };
    expect(reachedIn(notice(details))).toEqual(reached(500_000, 520_000));
    expect(reachedIn({ ...notice(null), code: 'session_limit' })).toEqual({
      scope: 'session',
      limit: null,
      spent: null
    });
  });

  test.each([
    [reached(500_000, 480_000), null, [750_000, 1_000_000, 2_000_000]],
    [reached(500_000, 700_000), null, [1_100_000, 1_400_000, 2_800_000]],
    [reached(1_234_567, 0), null, [1_900_000, 2_500_000, 5_000_000]],
    [reached(1_500, 0), null, [2_300, 3_000, 6_000]],
    [reached(500_000, 0), 900_000, [750_000, 900_000]],
    [reached(500_000, 0), 600_000, [600_000]],
    [reached(500_000, 0), 500_000, []],
    [reached(0, 0), null, [1_000_000, 1_000_000, 1_000_000]]
  ])('%o below %s is raised to %o', (from, ceiling, steps) => {
    expect(raises(from, ceiling)).toEqual(steps);
  });
});

test.each([
  ['', null],
  ['  ', null],
  ['5', 5_000_000],
  ['$ 0,50', 500_000],
  ['.25', 250_000],
  ['0', 0],
  ['-1', undefined],
  ['1e9', undefined],
  ['five', undefined]
])('the amount "%s" is %s', (text, microUsd) => {
  expect(parseDollars(text)).toBe(microUsd);
});

test.each([null, 0, 500_000, 1_234_567])('%s is written as read', amount => {
  expect(parseDollars(writeDollars(amount))).toBe(amount);
});

test('the budget is read with the usage and written whole', async () => {
  const server = new FakeServer();
  const budget = budgetClient(server);
  expect(await budget.read()).toEqual(noBudget);
  await budget.write({ day_micro_usd: 1 });
  expect(server.requests).toEqual([['putBudget', { day_micro_usd: 1 }]]);
});
