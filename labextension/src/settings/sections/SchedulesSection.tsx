/** What all schedules and watchers together may do, and whether the agent may schedule its own runs. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { useTrans } from '../../ui/hooks';
import type { Settings } from '../../wire/generated';
import { Group, Loaded, problemText, Problems } from '../components/components';
import {
  numberIn,
  SelectSetting,
  SwitchSetting,
  TextSetting
} from '../components/fields';
import { useStore } from '../components/hooks';

/** An example of quiet hours, in no language. */
const EXAMPLE = '22:00-07:00 Europe/Berlin';
/** Their form; the server checks the time zone. */
const QUIET_HOURS =
  /^(([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d [\w+/-]{1,64})?$/;

export function SchedulesSection(): React.JSX.Element {
  const trans = useTrans();
  const { settings } = useStore();
  return (
    <>
      <p className="shoulders-Settings-note">
        {trans.__(
          'These limits hold for all schedules and watchers together. The agent cannot change them.'
        )}
      </p>
      <Loaded resource={settings}>
        {value => (
          <>
            <Problems problems={value.problems.map(problemText)} />
            <Limits settings={value} />
            <Agent settings={value} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Limits({ settings }: { settings: Settings }): React.JSX.Element {
  const trans = useTrans();
  const common = { settings, area: 'schedules' } as const;
  return (
    <Group title={trans.__('Limits')}>
      {numbers(trans).map(each => (
        <NumberSetting key={each.name} settings={settings} limit={each} />
      ))}
      <SelectSetting
        {...common}
        name="largest_toolset"
        label={trans.__('Tools of a run, at most')}
        options={[
          { value: 'document', title: trans.__('Current document') },
          { value: 'notebook', title: trans.__('Notebooks and kernels') },
          { value: 'workspace', title: trans.__('Files and commands') },
          { value: 'full', title: trans.__('All') }
        ]}
      />
      <TextSetting
        {...common}
        name="quiet_hours"
        label={trans.__('Quiet hours')}
        note={trans.__('Nothing starts then. Leave empty for none.')}
        placeholder={EXAMPLE}
        parse={text =>
          QUIET_HOURS.test(text.trim()) ? text.trim() : undefined
        }
        invalid={trans.__(
          'Enter start, end and time zone, such as 22:00-07:00 Europe/Berlin.'
        )}
      />
      <SwitchSetting
        {...common}
        name="poll_files"
        label={trans.__('Compare watched files every 10 s')}
        note={trans.__(
          'For network drives that report no changes. Known ones are compared anyway.'
        )}
      />
    </Group>
  );
}

function Agent({ settings }: { settings: Settings }): React.JSX.Element {
  const trans = useTrans();
  return (
    <Group title={trans.__('Schedules of the agent')}>
      <SwitchSetting
        settings={settings}
        area="schedules"
        name="agent"
        label={trans.__('Let the agent schedule its own next runs')}
        note={trans.__(
          'A run continues the conversation that scheduled it, with its mode, tools and permissions.'
        )}
      />
      <NumberSetting
        settings={settings}
        limit={{
          name: 'longest_agent_days',
          label: trans.__('Days ahead, at most'),
          range: [1, 366]
        }}
      />
    </Group>
  );
}

interface ILimit {
  readonly name: string;
  readonly label: string;
  readonly unit?: string;
  /** Smallest and largest value. */
  readonly range: readonly [number, number];
  readonly isWhole?: boolean;
}

function numbers(trans: TranslationBundle): readonly ILimit[] {
  return [
    {
      name: 'shortest_interval_s',
      label: trans.__('Shortest interval'),
      unit: trans.__('seconds'),
      range: [60, 31_622_400]
    },
    {
      name: 'most_schedules',
      label: trans.__('Active schedules'),
      range: [0, 1000]
    },
    {
      name: 'runs_per_day',
      label: trans.__('Runs per day'),
      range: [0, 10_000]
    },
    {
      name: 'usd_per_day',
      label: trans.__('Cost per day'),
      unit: trans.__('US dollars'),
      range: [0, 1_000_000],
      isWhole: false
    },
    {
      name: 'most_concurrent',
      label: trans.__('Runs at the same time'),
      range: [1, 20]
    }
  ];
}

function NumberSetting(props: {
  settings: Settings;
  limit: ILimit;
}): React.JSX.Element {
  const trans = useTrans();
  const { name, label, unit, range, isWhole = true } = props.limit;
  return (
    <TextSetting
      settings={props.settings}
      area="schedules"
      name={name}
      label={label}
      {...(unit === undefined ? {} : { unit })}
      parse={numberIn(...range, isWhole)}
      invalid={trans.__('Enter a number from %1 to %2.', ...range)}
    />
  );
}
