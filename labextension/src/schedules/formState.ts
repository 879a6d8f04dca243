/** The form of a schedule: its fields as text, and the request they make. Pure. */

import type {
  PostSchedule,
  Schedule,
  ScheduleOptions
} from '../wire/generated';
import type { IScheduleStart } from './api';
import type { Trigger } from './triggerWords';

export type TriggerKind = Trigger['kind'];

/** What the person typed and chose. */
export interface IScheduleForm {
  readonly title: string;
  readonly kind: TriggerKind;
  /** Local date and time of the control, without an offset. */
  readonly at: string;
  readonly every: string;
  readonly unit: 'min' | 'h' | 'd';
  readonly expression: string;
  readonly timeZone: string;
  /** One glob on each line. */
  readonly globs: string;
  readonly settle: string;
  readonly prompt: string;
  readonly notebook: string;
  readonly output: ScheduleOptions['output'];
  readonly sessionId: string | null;
  readonly onQuestion: ScheduleOptions['on_question'];
  readonly missed: ScheduleOptions['missed'];
  /** Local date and time; empty: none. */
  readonly expires: string;
  readonly runsPerDay: string;
  readonly dollarsPerDay: string;
}

type Globs = Extract<Trigger, { kind: 'files' }>['globs'];

const UNITS = { min: 60, h: 3600, d: 86_400 } as const;

/** The page's time zone. */
export function ownTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
}

/** The fields of a new schedule. */
export function newForm(start: IScheduleStart): IScheduleForm {
  return {
    title: start.title ?? '',
    kind: 'cron',
    at: localText(new Date(Date.now() + 3_600_000)),
    every: '1',
    unit: 'h',
    expression: '0 9 * * MON-FRI',
    timeZone: ownTimeZone(),
    globs: '',
    settle: '5',
    prompt: start.prompt ?? '',
    notebook: start.notebook ?? '',
    output: 'copy',
    sessionId: start.sessionId ?? null,
    onQuestion: 'wait',
    missed: 'run',
    expires: '',
    runsPerDay: '',
    dollarsPerDay: ''
  };
}

/** The fields of a stored schedule. */
export function formOf({ trigger, options }: Schedule): IScheduleForm {
  return {
    ...newForm({}),
    ...triggerFields(trigger),
    kind: trigger.kind,
    title: options.title,
    prompt: options.prompt ?? '',
    notebook: options.notebook ?? '',
    output: options.output,
    sessionId: options.session_id,
    onQuestion: options.on_question,
    missed: options.missed,
    expires:
      options.expires_at === null
        ? ''
        : localText(new Date(options.expires_at)),
    runsPerDay: options.runs_per_day?.toString() ?? '',
    dollarsPerDay:
      options.micro_usd_per_day === null
        ? ''
        : String(options.micro_usd_per_day / 1_000_000)
  };
}

function triggerFields(trigger: Trigger): Partial<IScheduleForm> {
  switch (trigger.kind) {
    case 'once':
      return {
        at: localText(new Date(trigger.at)),
        timeZone: trigger.time_zone
      };
    case 'interval': {
      const { seconds } = trigger;
      const unit =
        seconds % UNITS.d === 0 ? 'd' : seconds % UNITS.h === 0 ? 'h' : 'min';
      return { every: String(seconds / UNITS[unit]), unit };
    }
    case 'cron':
      return { expression: trigger.expression, timeZone: trigger.time_zone };
    case 'files':
      return {
        globs: trigger.globs.join('\n'),
        settle: String(trigger.settle_s)
      };
  }
}

/** The trigger that the fields describe. */
export function triggerOf(form: IScheduleForm): Trigger {
  switch (form.kind) {
    case 'once':
      return {
        kind: 'once',
        at: momentOf(form.at) ?? form.at,
        time_zone: ownTimeZone()
      };
    case 'interval':
      return {
        kind: 'interval',
        seconds: Math.round(Number(form.every) * UNITS[form.unit])
      };
    case 'cron':
      return {
        kind: 'cron',
        expression: form.expression.trim(),
        time_zone: form.timeZone.trim()
      };
    case 'files':
      return {
        kind: 'files',
        globs: linesOf(form.globs),
        settle_s: Number(form.settle)
      };
  }
}

/** The options that the fields describe; what the form does not show is kept. */
export function optionsOf(
  form: IScheduleForm,
  kept: ScheduleOptions | null
): ScheduleOptions {
  const notebook = form.notebook.trim();
  return {
    model: null,
    mode: null,
    toolset: null,
    quiet_hours: null,
    ...kept,
    title: form.title.trim(),
    prompt: form.prompt.trim() === '' ? null : form.prompt,
    notebook: notebook === '' ? null : notebook,
    output: form.output,
    session_id: form.sessionId,
    on_question: form.onQuestion,
    missed: form.missed,
    expires_at: momentOf(form.expires),
    runs_per_day:
      form.runsPerDay.trim() === '' ? null : Number(form.runsPerDay),
    micro_usd_per_day:
      form.dollarsPerDay.trim() === ''
        ? null
        : Math.round(Number(form.dollarsPerDay) * 1_000_000)
  };
}

/** The request that makes the schedule. */
export function postOf(form: IScheduleForm): PostSchedule {
  return { ...optionsOf(form, null), trigger: triggerOf(form) };
}

/** Fields that a server error may name, by what it calls them. */
const FIELDS: readonly (readonly [RegExp, keyof IScheduleForm])[] = [
  [/expires_at/, 'expires'],
  [/expression/, 'expression'],
  [/time_zone/, 'timeZone'],
  [/globs/, 'globs'],
  [/settle_s/, 'settle'],
  [/shortest_interval|seconds|less than/, 'every'],
  [/runs_per_day/, 'runsPerDay'],
  [/usd_per_day/, 'dollarsPerDay'],
  [/notebook/, 'notebook'],
  [/prompt/, 'prompt'],
  [/title/, 'title'],
  [/\bat\b|trigger/, 'at']
];

/** The field that an error of the server is about; null for one about the whole. */
export function fieldOf(
  error: { message: string; details: object | null },
  kind: TriggerKind
): keyof IScheduleForm | null {
  const limit =
    'limit' in (error.details ?? {})
      ? String((error.details as { limit: unknown }).limit)
      : '';
  const head = limit === '' ? (error.message.split(':')[0] ?? '') : limit;
  const found = FIELDS.find(([name]) => name.test(head))?.[1] ?? null;
  return found === 'every' && kind === 'cron' ? 'expression' : found;
}

/** The patterns; the server refuses none and too many. */
function linesOf(text: string): Globs {
  const lines = text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '');
  return lines as unknown as Globs; // The generated type lists every length.
}

/** A local date and time of a control as a moment; null for none. */
function momentOf(text: string): string | null {
  const moment = new Date(text);
  return text === '' || Number.isNaN(moment.getTime())
    ? null
    : moment.toISOString();
}

/** A moment as the controls for date and time take it. */
function localText(moment: Date): string {
  const local = new Date(
    moment.getTime() - moment.getTimezoneOffset() * 60_000
  );
  return local.toISOString().slice(0, 16);
}
