/** The MCP servers whose tools the agent may use: what waits for the user, then all of them. */

import * as React from 'react';

import { visible } from '../../text/hiddenCharacters';
import { serverText } from '../../text/serverMessages';
import { useTrans } from '../../ui/hooks';
import { Group, Loaded, Problems, problemText } from '../components/components';
import { useStore } from '../components/hooks';
import type { McpServerView, McpServerList } from '../../wire/generated';
import { AddServer } from './ServerForm';
import { stateOf } from './serverState';
import { ServerCard } from './ServerCard';

export function McpSection(): React.JSX.Element {
  const trans = useTrans();
  const { mcp } = useStore();
  return (
    <>
      <p className="shoulders-Settings-note">
        {trans.__(
          'MCP servers give the agent tools of other programs. What a server returns is treated as foreign text, and its tools ask before they run.'
        )}
      </p>
      <Loaded resource={mcp.list}>{list => <Servers list={list} />}</Loaded>
    </>
  );
}

function Servers({ list }: { list: McpServerList }): React.JSX.Element {
  const trans = useTrans();
  const { lock_reason } = list;
  const asking = list.servers.filter(server => stateOf(server) === 'review');
  const others = list.servers.filter(server => stateOf(server) !== 'review');
  return (
    <>
      <Problems problems={list.problems.map(problemText)} />
      {list.install !== null && (
        <p className="shoulders-Settings-note" role="status">
          {trans.__('Install what servers need first:')}{' '}
          <code>{visible(list.install)}</code>
        </p>
      )}
      {lock_reason !== null && (
        <p className="shoulders-Settings-note" role="status">
          {trans.__(
            'Locked by your administrator. %1',
            serverText(trans, lock_reason)
          )}
        </p>
      )}
      {lock_reason === null && (
        <AddServer taken={list.servers.map(({ name }) => name)} />
      )}
      {asking.length > 0 && (
        <Group
          title={trans.__('Waiting for your answer')}
          note={trans.__(
            'These came with the folder and do not start until you allow them. Allow only what you know.'
          )}
        >
          <Cards servers={asking} />
        </Group>
      )}
      {others.length > 0 ? (
        <Cards servers={others} />
      ) : (
        asking.length === 0 && (
          <p className="shoulders-Settings-note">
            {trans.__('No servers yet.')}
          </p>
        )
      )}
    </>
  );
}

function Cards(props: {
  servers: readonly McpServerView[];
}): React.JSX.Element {
  return (
    <ul className="shoulders-McpServers">
      {props.servers.map(server => (
        <ServerCard key={`${server.source}:${server.name}`} server={server} />
      ))}
    </ul>
  );
}
