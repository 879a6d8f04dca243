import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { onWake } from '../wake';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('tells of a sleep, and of no pause of a hidden page', () => {
  let clock = 0;
  const woken = vi.fn();
  const stop = onWake(woken, () => clock);
  for (const pause of [30_000, 60_000, 120_000]) {
    clock += pause;
    vi.advanceTimersByTime(30_000);
  }
  expect(woken).not.toHaveBeenCalled();
  clock += 3_600_000;
  vi.advanceTimersByTime(30_000);
  clock += 30_000;
  vi.advanceTimersByTime(30_000);
  expect(woken).toHaveBeenCalledTimes(1);
  stop();
  clock += 3_600_000;
  vi.advanceTimersByTime(30_000);
  expect(woken).toHaveBeenCalledTimes(1);
});
