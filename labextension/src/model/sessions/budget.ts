/** Budget limits: reading and setting them, and the steps offered to raise them. Used by the views. */

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
export function budgetClient(
  http: Pick<IHttpClient, 'usage' | 'putBudget'>
): IBudget {
  return {
    read: async () => (await http.usage()).budget,
    write: limits => http.putBudget(limits)
  };
}

/** A limit that stopped a turn, in micro-dollars; null when the log does not say. */
export interface IReachedLimit {
  readonly scope: Scope | null;
  readonly limit: number | null;
  readonly spent: number | null;
}

/** The limit that a pause notice reports. */
export function reachedIn({ code, details }: NoticeView): IReachedLimit {
  const facts = details ?? {};
  return {
    scope: code === 'session_limit' ? 'session' : 'turn',
    limit: numberIn(facts.limit_micro_usd),
    spent: numberIn(facts.spent_micro_usd)
  };
}

/** Higher limits to offer: half as much again, double and four times, up to the administrator's limit. */
export function raises(
  { limit, spent }: IReachedLimit,
  ceiling: number | null
): number[] {
  const base = Math.max(limit ?? 0, spent ?? 0);
  const steps = [1.5, 2, 4].map(factor => roundUp(base * factor));
  const allowed = steps.filter(step => ceiling === null || step < ceiling);
  const most = ceiling !== null && ceiling > base ? [ceiling] : [];
  return allowed.length === steps.length ? steps : [...allowed, ...most];
}

/** Round up to two digits, to whole cents from one cent on. */
function roundUp(microUsd: number): number {
  if (microUsd <= 0) {
    return 1_000_000;
  }
  const digits = 10 ** Math.max(0, Math.floor(Math.log10(microUsd)) - 1);
  const unit = microUsd >= 10_000 ? Math.max(digits, 10_000) : digits;
  return Math.ceil(microUsd / unit - 1e-9) * unit;
}

/** Parse dollars to micro-dollars; null when empty, undefined when invalid. */
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

/** Format micro-dollars as editable dollars. */
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
