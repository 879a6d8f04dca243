/** Triggers and times in words. Pure. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { visible } from '../text/hiddenCharacters';
import type { Schedule, ScheduleRun } from '../wire/generated';

export type Trigger = Schedule['trigger'];

const TIMED = /^(\d{1,2}) (\d{1,2}) (\*|\d{1,2}) \* (\*|[\w,-]+)$/;

/** A trigger as a sentence: "Every weekday at 09:00, Europe/Berlin". */
export function triggerWords(
  trigger: Trigger,
  trans: TranslationBundle
): string {
  switch (trigger.kind) {
    case 'once':
      return trans.__('Once, %1', formatMoment(trigger.at));
    case 'interval':
      return trans.__('Every %1', spanWords(trigger.seconds, trans));
    case 'cron':
      return trans.__(
        '%1, %2',
        cronWords(trigger.expression, trans),
        trigger.time_zone
      );
    case 'files':
      return trans.__('When %1 changes', trigger.globs.map(visible).join(', '));
  }
}

/** A cron expression in words, where it is a common one. */
export function cronWords(text: string, trans: TranslationBundle): string {
  const hourly = /^(\d{1,2}) \* \* \* \*$/.exec(text.trim());
  if (hourly !== null) {
    return trans.__('Every hour at minute %1', hourly[1] ?? '');
  }
  const [, minute = '', hour = '', day = '', weekday = ''] =
    TIMED.exec(text.trim()) ?? [];
  if (hour === '') {
    return trans.__('Cron %1', visible(text));
  }
  const time = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  return (
    dayWords(day, weekday, time, trans) ?? trans.__('Cron %1', visible(text))
  );
}

/** Days and a time in words; null for days that are not common ones. */
function dayWords(
  day: string,
  weekday: string,
  time: string,
  trans: TranslationBundle
): string | null {
  if (day !== '*') {
    return weekday === '*'
      ? trans.__('On day %1 of each month at %2', day, time)
      : null;
  }
  if (weekday === '*') {
    return trans.__('Every day at %1', time);
  }
  if (/^(mon-fri|1-5)$/i.test(weekday)) {
    return trans.__('Every weekday at %1', time);
  }
  const days = weekday.split(',').map(name => weekdayName(name));
  return days.every(name => name !== null)
    ? trans.__('Every %1 at %2', days.join(', '), time)
    : null;
}

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** The name of a weekday in the page's language; null for anything else. */
function weekdayName(text: string): string | null {
  const index = /^[0-7]$/.test(text)
    ? Number(text) % 7
    : DAYS.indexOf(text.toLowerCase());
  // 4 January 1970 was a Sunday.
  return index < 0
    ? null
    : new Date(Date.UTC(1970, 0, 4 + index)).toLocaleDateString(undefined, {
        weekday: 'long',
        timeZone: 'UTC'
      });
}

/** A number of seconds as "15 min" or "2 h". */
export function spanWords(seconds: number, trans: TranslationBundle): string {
  if (seconds % 86_400 === 0) {
    return trans._n('%1 day', '%1 days', seconds / 86_400);
  }
  if (seconds % 3600 === 0) {
    return trans.__('%1 h', seconds / 3600);
  }
  return seconds % 60 === 0
    ? trans.__('%1 min', seconds / 60)
    : trans.__('%1 s', seconds);
}

/** A moment in the page's time zone and language. */
export function formatMoment(text: string): string {
  const moment = new Date(text);
  return Number.isNaN(moment.getTime())
    ? text
    : moment.toLocaleString(undefined, {
        weekday: 'short',
        day: 'numeric',
        month: 'short',
        year:
          moment.getFullYear() === new Date().getFullYear()
            ? undefined
            : 'numeric',
        hour: '2-digit',
        minute: '2-digit'
      });
}

/** The state of a run in a word. */
export function runWords(
  state: ScheduleRun['state'],
  trans: TranslationBundle
): string {
  switch (state) {
    case 'starting':
      return trans.__('Starting');
    case 'running':
      return trans.__('Running');
    case 'waiting':
      return trans.__('Waiting for you');
    case 'done':
      return trans.__('Done');
    case 'failed':
      return trans.__('Failed');
    case 'refused':
      return trans.__('Did not run');
    case 'interrupted':
      return trans.__('Interrupted');
    case 'cancelled':
      return trans.__('Stopped');
  }
}
