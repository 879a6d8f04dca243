/** What may leave this machine, and where it goes. */

import * as React from 'react';

import { Badge } from '../chat/parts';
import { useTrans } from '../chat/use';
import { visible } from '../model/visible';
import type { ModelList, Settings } from '../wire/generated';
import { SelectSetting, SwitchSetting } from './fields';
import { Group, Loaded, problemText, Problems } from './pieces';
import { useStore } from './use';

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
        title={trans.__('Where it goes')}
        note={trans.__(
          'Requests to models go to these addresses and no others; there is no telemetry. What exactly is sent can be read in each conversation under “Show request”, and for suggestions at the cursor in their part of these settings.'
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
      title={trans.__('What is told of your data')}
      note={trans.__(
        'Of variables in your kernels. What a cell prints, and files the agent reads, are sent as they are.'
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
            note: trans.__('No value leaves this machine.')
          },
          {
            value: 'samples',
            title: trans.__('A few values as well'),
            note: trans.__(
              'Some rows and entries are sent, for the model to see what they look like.'
            )
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

/** What goes along with a notebook that is given away. */
function Notebooks({ settings }: { settings: Settings }): React.JSX.Element {
  const trans = useTrans();
  return (
    <Group title={trans.__('What your notebooks carry')}>
      <SwitchSetting
        settings={settings}
        area="threads"
        name="keep_in_notebook"
        label={trans.__('Keep threads in the notebook')}
        note={trans.__(
          'The places of task threads and the texts they are about are stored in the notebook, so that copies of it keep their threads. The conversations stay on this machine.'
        )}
      />
    </Group>
  );
}

/** The hosts of the providers that can be asked now. */
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
              <Badge kind="good">{trans.__('on this machine')}</Badge>
            ) : (
              <Badge>{trans.__('over the network')}</Badge>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}
