import { expect, test } from 'vitest';

import type { Schedule, ScheduleOptions } from '../../wire/generated';
import {
  fieldOf,
  formOf,
  newForm,
  optionsOf,
  ownTimeZone,
  postOf,
  triggerOf,
  type IScheduleForm
} from '../formState';
import type { Trigger } from '../triggerWords';

const OPTIONS: ScheduleOptions = {
  title: 'Gaps',
  prompt: 'Check the data',
  notebook: null,
  output: 'copy',
  session_id: 's1',
  model: 'own/small',
  mode: 'plan',
  toolset: null,
  on_question: 'refuse',
  missed: 'skip',
  quiet_hours: { start: '22:00', end: '06:00', time_zone: 'UTC' },
  expires_at: '2030-01-02T03:04:00.000Z',
  runs_per_day: 3,
  micro_usd_per_day: 1_500_000
};

function stored(trigger: Trigger, options = OPTIONS): Schedule {
  return {
    id: 'a',
    revision: 1,
    trigger,
    options,
    state: 'active',
    state_reason: null,
    created_by: 'person',
    made_in: null,
    reason: null,
    owner: null,
    created_at: '2029-01-01T00:00:00Z',
    updated_at: '2029-01-01T00:00:00Z',
    next_at: null,
    postponed: null
  };
}

test.each<[Trigger, Partial<IScheduleForm>]>([
  [
    { kind: 'interval', seconds: 1800 },
    { every: '30', unit: 'min' }
  ],
  [
    { kind: 'interval', seconds: 7200 },
    { every: '2', unit: 'h' }
  ],
  [
    { kind: 'interval', seconds: 172_800 },
    { every: '2', unit: 'd' }
  ],
  [
    { kind: 'cron', expression: '0 9 * * 1', time_zone: 'Asia/Tokyo' },
    { expression: '0 9 * * 1', timeZone: 'Asia/Tokyo' }
  ],
  [
    { kind: 'files', globs: ['a/*.csv', 'b.txt'], settle_s: 2 },
    { globs: 'a/*.csv\nb.txt', settle: '2' }
  ],
  [
    {
      kind: 'once',
      at: '2030-05-06T07:08:00.000Z',
      time_zone: ownTimeZone()
    },
    {}
  ]
])('%j goes through the form unchanged', (trigger, fields) => {
  const form = formOf(stored(trigger));
  expect(form).toMatchObject({ kind: trigger.kind, ...fields });
  expect(triggerOf(form)).toEqual(trigger);
  expect(optionsOf(form, OPTIONS)).toEqual(OPTIONS);
});

test.each<[Partial<IScheduleForm>, object]>([
  [
    { title: ' Gaps ', prompt: '  ' },
    { title: 'Gaps', prompt: null }
  ],
  [{ notebook: ' a.ipynb ' }, { notebook: 'a.ipynb' }],
  [
    { expires: '', runsPerDay: ' ', dollarsPerDay: '' },
    { expires_at: null, runs_per_day: null, micro_usd_per_day: null }
  ],
  [
    { runsPerDay: '4', dollarsPerDay: '0.25' },
    { runs_per_day: 4, micro_usd_per_day: 250_000 }
  ],
  [
    { kind: 'interval', every: '1.5', unit: 'h' },
    { trigger: { kind: 'interval', seconds: 5400 } }
  ],
  [
    { kind: 'files', globs: ' a \n\n b\n', settle: '5' },
    { trigger: { kind: 'files', globs: ['a', 'b'], settle_s: 5 } }
  ],
  [
    { kind: 'cron', expression: ' 0 9 * * * ', timeZone: ' UTC ' },
    { trigger: { kind: 'cron', expression: '0 9 * * *', time_zone: 'UTC' } }
  ],
  // What is no moment goes to the server, which says so.
  [
    { kind: 'once', at: '' },
    { trigger: { kind: 'once', at: '', time_zone: ownTimeZone() } }
  ]
])('the fields %j make %j', (fields, request) => {
  expect(postOf({ ...newForm({}), ...fields })).toMatchObject(request);
});

test.each<[string, string | null, IScheduleForm['kind'], string | null]>([
  ['expires_at: is over', null, 'cron', 'expires'],
  ['trigger.cron.expression: 5 fields', null, 'cron', 'expression'],
  ['trigger.cron.time_zone: unknown', null, 'cron', 'timeZone'],
  ['trigger.files.globs: too many', null, 'files', 'globs'],
  ['trigger.files.settle_s: too long', null, 'files', 'settle'],
  ['trigger.once.at: no moment', null, 'once', 'at'],
  ['Too often', 'shortest_interval_s', 'interval', 'every'],
  ['Too often', 'shortest_interval_s', 'cron', 'expression'],
  ['micro_usd_per_day: too much', null, 'cron', 'dollarsPerDay'],
  ['runs_per_day: too many', null, 'cron', 'runsPerDay'],
  ['Something else: the title', null, 'cron', null]
])(
  'the error %j with limit %j is about %s: %s',
  (message, limit, kind, field) => {
    const details = limit === null ? null : { limit };
    expect(fieldOf({ message, details }, kind)).toBe(field);
  }
);
