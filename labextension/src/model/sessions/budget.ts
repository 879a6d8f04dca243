/** Amounts of money: what the user may spend, read and set, and the steps a limit is raised by. Used by the views. */

import type { IHttpClient } from '../../client/http';
import type {
  BudgetState,
  Json,
  NoticeView,
  PutBudget
} from '../../wire/generated';

export type Scope = BudgetState['limits'][number]['scope'];

/** The user's limits. */
export interface IBudget {
  read(): Promise<BudgetState>;
  write(limits: PutBudget): Promise<BudgetState>;
}

/** The limits over HTTP. */
export function budgetOver(
  http: Pick<IHttpClient, 'usage' | 'putBudget'>
): IBudget {
  return {
    read: async () => (await http.usage()).budget,
    write: limits => http.putBudget(limits)
  };
}

/** A limit a turn stopped at, in micro-dollars; null where the log does not say. */
export interface IReached {
  readonly scope: Scope | null;
  readonly limit: number | null;
  readonly spent: number | null;
}

/** What a notice of a pause tells. */
export function reachedIn({ code, details }: NoticeView): IReached {
  const facts = details ?? {};
  return {
    scope: code === 'session_limit' ? 'session' : 'turn',
    limit: numberIn(facts.limit_micro_usd),
    spent: numberIn(facts.spent_micro_usd)
  };
}

/** Higher limits to choose from: half as much again, twice, four times; no more than the administrator allows. */
export function raises(
  { limit, spent }: IReached,
  ceiling: number | null
): number[] {
  const base = Math.max(limit ?? 0, spent ?? 0);
  const steps = [1.5, 2, 4].map(factor => tidy(base * factor));
  const allowed = steps.filter(step => ceiling === null || step < ceiling);
  const most = ceiling !== null && ceiling > base ? [ceiling] : [];
  return allowed.length === steps.length ? steps : [...allowed, ...most];
}

/** Two digits, rounded up, and whole cents where there is a cent. */
function tidy(microUsd: number): number {
  if (microUsd <= 0) {
    return 1_000_000;
  }
  const digits = 10 ** Math.max(0, Math.floor(Math.log10(microUsd)) - 1);
  const unit = microUsd >= 10_000 ? Math.max(digits, 10_000) : digits;
  return Math.ceil(microUsd / unit - 1e-9) * unit;
}

/** Dollars as the user writes them, in micro-dollars; null when empty, undefined when it is no amount. */
export function parseDollars(text: string): number | null | undefined {
  const plain = text
    .trim()
    .replace(/^\$\s*/, '')
    .replace(',', '.');
  if (plain === '') {
    return null;
  }
  return /^\d{1,6}(\.\d*)?$|^\.\d+$/.test(plain)
    ? Math.round(Number(plain) * 1_000_000)
    : undefined;
}

/** Micro-dollars as the user would write them. */
export function writeDollars(microUsd: number | null): string {
  if (microUsd === null) {
    return '';
  }
  const dollars = microUsd / 1_000_000;
  return microUsd % 10_000 === 0 ? dollars.toFixed(2) : String(dollars);
}

function numberIn(value: Json | undefined): number | null {
  return typeof value === 'number' ? value : null;
}
