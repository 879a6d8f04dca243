/** What may leave this machine, and where it goes. */

import * as React from 'react';

import { Badge } from '../../ui/primitives';
import { useTrans } from '../../ui/hooks';
import { visible } from '../../text/hiddenCharacters';
import type { ModelList, Settings } from '../../wire/generated';
import { SelectSetting, SwitchSetting } from '../components/fields';
import { Group, Loaded, problemText, Problems } from '../components/components';
import { useStore } from '../components/hooks';

export function PrivacySection(): React.JSX.Element {
  const trans = useTrans();
  const { settings, models } = useStore();
  return (
    <>
      <Loaded resource={settings}>
        {value => <Values settings={value} />}
      </Loaded>
      <Loaded resource={settings}>
        {value => <Notebooks settings={value} />}
      </Loaded>
      <Group
        title={trans.__('Where data goes')}
        note={trans.__(
          'Model requests go only to these addresses. There is no telemetry. To see exactly what is sent, choose “Show request” in a conversation; for suggestions, see “Suggestions” in these settings.'
        )}
      >
        <Loaded resource={models}>{list => <Addresses list={list} />}</Loaded>
      </Group>
    </>
  );
}

function Values({ settings }: { settings: Settings }): React.JSX.Element {
  const trans = useTrans();
  return (
    <Group
      title={trans.__('What models see of your data')}
      note={trans.__(
        'Applies to variables in your kernels. Cell outputs and files that the agent reads are sent as they are.'
      )}
    >
      <Problems problems={settings.problems.map(problemText)} />
      <SelectSetting
        settings={settings}
        area="egress"
        name="data_values"
        label={trans.__('Values of variables')}
        options={[
          {
            value: 'schema_only',
            title: trans.__('Names, types and shapes only'),
            note: trans.__('No values leave this computer.')
          },
          {
            value: 'samples',
            title: trans.__('A few values too'),
            note: trans.__('Some sample rows and entries are sent.')
          },
          {
            value: 'full',
            title: trans.__('Many values'),
            note: trans.__('As much as fits is sent.')
          }
        ]}
      />
    </Group>
  );
}

/** What is included in a shared notebook. */
function Notebooks({ settings }: { settings: Settings }): React.JSX.Element {
  const trans = useTrans();
  return (
    <Group title={trans.__('What notebooks store')}>
      <SwitchSetting
        settings={settings}
        area="threads"
        name="keep_in_notebook"
        label={trans.__('Store threads in the notebook')}
        note={trans.__(
          'The position and quoted text of each task thread are stored in the notebook, so that copies keep their threads. The conversations stay on the server.'
        )}
      />
    </Group>
  );
}

/** The hosts of the available providers. */
function Addresses({ list }: { list: ModelList }): React.JSX.Element {
  const trans = useTrans();
  const asked = list.providers.filter(
    ({ host, state }) => host !== '' && state !== 'no_key'
  );
  return asked.length === 0 ? (
    <p className="shoulders-Settings-note">
      {trans.__('Nowhere: no provider has a key.')}
    </p>
  ) : (
    <ul className="shoulders-Lines">
      {asked.map(({ id, name, host, local }) => (
        <li key={id} className="shoulders-Line">
          <div className="shoulders-Line-head">
            <span className="shoulders-Line-name">{visible(name)}</span>
            <code>{visible(host)}</code>
            {local ? (
              <Badge kind="good">{trans.__('on this computer')}</Badge>
            ) : (
              <Badge>{trans.__('over the network')}</Badge>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}
