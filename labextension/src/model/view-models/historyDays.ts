/** The history by day, as a person would look for something: today, yesterday, the last days, earlier. */

import type { Session } from '../../wire/generated';

/** The headings of the history, in their order. */
export type Day = 'today' | 'yesterday' | 'week' | 'earlier';

/** Conversations of about the same time. */
export interface IDayGroup {
  readonly day: Day;
  readonly sessions: readonly Session[];
}

/**
 * Put a list, newest first, below its headings; those without any are left out. Conversations with a moment in `held`
 * have the place of that moment, whatever has changed in them since.
 */
export function groupByDay(
  sessions: readonly Session[],
  now = new Date(),
  held: ReadonlyMap<string, string> | null = null
): IDayGroup[] {
  const days: Day[] = ['today', 'yesterday', 'week', 'earlier'];
  const momentOf = ({ id, updated_at }: Session): string =>
    held?.get(id) ?? updated_at;
  const later = (a: Session, b: Session): boolean => momentOf(a) > momentOf(b);
  const placed = [...sessions].sort((a, b) =>
    later(a, b) ? -1 : later(b, a) ? 1 : 0
  );
  const all = days.map(day => ({
    day,
    sessions: placed.filter(
      session => dayOf(new Date(momentOf(session)), now) === day
    )
  }));
  return all.filter(group => group.sessions.length > 0);
}

function dayOf(moment: Date, now: Date): Day {
  const ago = daysAgo(moment, now);
  if (ago <= 0) {
    return 'today';
  }
  if (ago === 1) {
    return 'yesterday';
  }
  return ago < 7 ? 'week' : 'earlier';
}

/** Midnights between two moments, where the user is; a moment that cannot be read is long ago. */
function daysAgo(moment: Date, now: Date): number {
  const midnight = (date: Date): number =>
    Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
  const days = (midnight(now) - midnight(moment)) / 86_400_000;
  return Number.isNaN(days) ? Infinity : days;
}
