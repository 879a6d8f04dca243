/** The agent's database: whether it may keep one, and a way to it. */

import * as React from 'react';

import { useTrans } from '../../ui/hooks';
import { Button } from '../../ui/primitives';
import type { Settings } from '../../wire/generated';
import { Group, Loaded, problemText, Problems } from '../components/components';
import { numberIn, SwitchSetting, TextSetting } from '../components/fields';
import { useSettingsPage, useStore } from '../components/hooks';

export function DatabaseSection(): React.JSX.Element {
  const { settings } = useStore();
  return (
    <Loaded resource={settings}>
      {value => <Preferences settings={value} />}
    </Loaded>
  );
}

function Preferences({ settings }: { settings: Settings }): React.JSX.Element {
  const trans = useTrans();
  const { openDatabase } = useSettingsPage().host;
  const { enabled } = settings.values.agent_database;
  const common = { settings, area: 'agent_database' } as const;
  return (
    <Group
      title={trans.__('Records of the agent')}
      note={trans.__(
        'The agent can keep records of this folder in a small database, such as results of runs. Changes ask as edits of files do, and you can undo them.'
      )}
    >
      <Problems problems={settings.problems.map(problemText)} />
      <SwitchSetting
        {...common}
        name="enabled"
        label={trans.__('The agent’s database')}
        note={trans.__('In .shoulders/agent.db.')}
      />
      <TextSetting
        {...common}
        name="limit_mb"
        label={trans.__('Largest size')}
        unit={trans.__('MB')}
        parse={numberIn(1, 1000, true)}
        invalid={trans.__('Enter a number from %1 to %2.', 1, 1000)}
      />
      {enabled && openDatabase !== null && (
        <div className="shoulders-Actions">
          <Button onClick={openDatabase}>
            {trans.__('Open the database')}
          </Button>
        </div>
      )}
    </Group>
  );
}
