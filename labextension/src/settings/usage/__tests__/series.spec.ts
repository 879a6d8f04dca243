import { expect, test } from 'vitest';

import { row, trans } from '../../__tests__/fakes';
import { amountText } from '../charts';
import {
  axisTop,
  dayBars,
  daysBetween,
  daysOf,
  modelBars,
  wholePercent
} from '../series';

test('every day of a period has a bar, over the end of a month and of summer time', () => {
  expect(daysBetween('2026-10-24', '2026-10-27')).toEqual([
    '2026-10-24',
    '2026-10-25',
    '2026-10-26',
    '2026-10-27'
  ]);
  expect(daysBetween('2026-02-27', '2026-03-01')).toHaveLength(3);
  expect(daysBetween('2026-03-01', '2026-02-01')).toEqual([]);
});

test('a day without calls is 0, one of unknown cost is not known', () => {
  const rows = [
    row('2026-11-02', { known_cost_micro_usd: null, unknown_cost_calls: 2 })
  ];

  const [first, second] = dayBars(rows, '2026-11-01', '2026-11-02', 'cost');

  expect(first).toMatchObject({ value: 0, unknown: 0 });
  expect(second).toMatchObject({ value: null, unknown: 2 });
  expect(second && amountText(second, 'cost', trans)).toBe(
    '2 calls of unknown cost'
  );
  const [, calls] = dayBars(rows, '2026-11-01', '2026-11-02', 'calls');
  expect(calls).toMatchObject({ value: 2, unknown: 0 });
});

test('models come largest first, and a part that is not known is said', () => {
  const bars = modelBars(
    [
      row('small', { known_cost_micro_usd: 10_000, unknown_cost_calls: 1 }),
      row('big')
    ],
    'cost'
  );

  expect(bars.map(({ key }) => key)).toEqual(['big', 'small']);
  expect(bars.map(bar => amountText(bar, 'cost', trans))).toEqual([
    '$2.00',
    '$0.01 and 1 call of unknown cost'
  ]);
});

test('periods are days of the user’s clock', () => {
  const now = new Date(2026, 2, 5, 23, 59);

  expect(daysOf('month', now)).toEqual({
    from: '2026-03-01',
    to: '2026-03-05'
  });
  expect(daysOf('lastMonth', now)).toEqual({
    from: '2026-02-01',
    to: '2026-02-28'
  });
  expect(daysOf('week', now)).toEqual({ from: '2026-02-27', to: '2026-03-05' });
  expect(daysOf('days30', now).from).toBe('2026-02-04');
  expect(daysOf('days90', now).from).toBe('2025-12-06');
});

test.each([
  [0, 1],
  [0.3, 0.5],
  [1, 1],
  [1_300_000, 2_000_000],
  [7, 10]
])('an axis for %d ends at %d', (value, top) => {
  expect(axisTop(value)).toBeCloseTo(top);
});

test('all is said of all only', () => {
  expect([1, 0.999, 0.5, 0].map(wholePercent)).toEqual([100, 99, 50, 0]);
});
