/** Usage sums as bars: includes days without calls, keeps unknown costs apart. Pure; used by the usage section. */

import type { UsageRow } from '../../wire/generated';

export type Measure = 'cost' | 'tokens' | 'calls';
export type Period = 'month' | 'week' | 'days30' | 'days90' | 'lastMonth';

/** One bar. */
export interface IBar {
  readonly key: string;
  /** In micro-dollars, tokens or calls; null if unknown. */
  readonly value: number | null;
  /** Calls of unknown cost, which the value leaves out. */
  readonly unknown: number;
  readonly row: UsageRow | null;
}

/** The value of a row; null, not 0, if unknown. */
export function measured(row: UsageRow, measure: Measure): number | null {
  switch (measure) {
    case 'cost':
      return row.known_cost_micro_usd;
    case 'tokens':
      return row.input_tokens + row.output_tokens;
    case 'calls':
      return row.calls;
  }
}

/** A bar per day of the period, also for days without calls. */
export function dayBars(
  rows: readonly UsageRow[],
  first: string,
  last: string,
  measure: Measure
): IBar[] {
  const byDay = new Map(rows.map(row => [row.key, row]));
  return daysBetween(first, last).map(day =>
    barOf(day, byDay.get(day) ?? null, measure)
  );
}

/** A bar per model, the largest first. */
export function modelBars(rows: readonly UsageRow[], measure: Measure): IBar[] {
  return rows
    .map(row => barOf(row.key ?? '', row, measure))
    .sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
}

function barOf(key: string, row: UsageRow | null, measure: Measure): IBar {
  return {
    key,
    row,
    value: row === null ? 0 : measured(row, measure),
    unknown: measure === 'cost' ? (row?.unknown_cost_calls ?? 0) : 0
  };
}

const DAY_MS = 86_400_000;
/** More bars could not be told apart. */
const MOST_DAYS = 400;

/** The days from `first` to `last`, both included. */
export function daysBetween(first: string, last: string): string[] {
  const begin = Date.parse(`${first}T00:00:00Z`);
  const count = (Date.parse(`${last}T00:00:00Z`) - begin) / DAY_MS + 1;
  return Array.from(
    { length: Math.max(0, Math.min(count, MOST_DAYS)) },
    (_, index) => new Date(begin + index * DAY_MS).toISOString().slice(0, 10)
  );
}

/** The first and last day of a period, in the user's time zone. */
export function daysOf(
  period: Period,
  now: Date
): { from: string; to: string } {
  const year = now.getFullYear();
  const month = now.getMonth();
  const back = (days: number): Date =>
    new Date(year, month, now.getDate() - days + 1);
  const to = dayText(now);
  switch (period) {
    case 'month':
      return { from: dayText(new Date(year, month, 1)), to };
    case 'lastMonth':
      return {
        from: dayText(new Date(year, month - 1, 1)),
        to: dayText(new Date(year, month, 0))
      };
    case 'week':
      return { from: dayText(back(7)), to };
    case 'days30':
      return { from: dayText(back(30)), to };
    case 'days90':
      return { from: dayText(back(90)), to };
  }
}

function dayText(date: Date): string {
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The top of an axis: 1, 2 or 5 times a power of ten, at least `value`. */
export function axisTop(value: number): number {
  if (value <= 0) {
    return 1;
  }
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5, 10].find(each => each * power >= value) ?? 10;
  return step * power;
}

/** A share in per cent; 100 only for the whole. */
export function wholePercent(share: number): number {
  return share < 1 ? Math.min(99, Math.round(share * 100)) : 100;
}
