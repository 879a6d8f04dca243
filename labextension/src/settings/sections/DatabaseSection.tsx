/** The agent's database: whether it may keep one, and a way to it. */

import * as React from 'react';

import { useTrans } from '../../ui/hooks';
import { Button } from '../../ui/primitives';
import type { Settings } from '../../wire/generated';
import { Group, Loaded, problemText, Problems } from '../components/components';
import { SwitchSetting } from '../components/fields';
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
  const { enabled, limit_mb: limit } = settings.values.agent_database;
  return (
    <Group
      title={trans.__('Records of the agent')}
      note={trans.__(
        'The agent can keep records of this folder in a small database, such as results of runs. Changes ask as edits of files do, and you can undo them.'
      )}
    >
      <Problems problems={settings.problems.map(problemText)} />
      <SwitchSetting
        settings={settings}
        area="agent_database"
        name="enabled"
        label={trans.__('The agent’s database')}
        note={trans.__('At most %1 MB, in .shoulders/agent.db.', limit)}
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
