/** One MCP server: state, exact command or address, tools, log, and what it needs from the user. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { visible } from '../../text/hiddenCharacters';
import { serverText } from '../../text/serverMessages';
import { Disclosure, ErrorNote } from '../../ui/primitives';
import { useTrans } from '../../ui/hooks';
import { Switch } from '../components/fields';
import { useField, useStore } from '../components/hooks';
import type { McpServerInfo } from '../store/mcpWire';
import { MissingValue } from './MissingValue';
import { ServerActions } from './ServerActions';
import { EditServer } from './ServerForm';
import { ServerReview } from './ServerReview';
import { ServerState, sourceName } from './ServerState';

export function ServerCard(props: {
  server: McpServerInfo;
  locked: boolean;
}): React.JSX.Element {
  const { server, locked } = props;
  const title = React.useId();
  const [editing, setEditing] = React.useState(false);
  const asks = server.state === 'review';
  return (
    <li
      className={`shoulders-Provider ${asks ? 'shoulders-mod-asking' : ''}`}
      aria-labelledby={title}
    >
      <Head server={server} title={title} />
      {editing ? (
        <EditServer server={server} onDone={() => setEditing(false)} />
      ) : asks ? (
        <ServerReview server={server} />
      ) : (
        <>
          <Facts server={server} />
          {server.error !== null && <ErrorNote error={server.error} />}
          {server.missing.map(variable => (
            <MissingValue key={variable} server={server} variable={variable} />
          ))}
          <LeftOut server={server} />
          <Log lines={server.log} />
          <ServerActions
            server={server}
            locked={locked}
            onEdit={() => setEditing(true)}
          />
        </>
      )}
    </li>
  );
}

function Head(props: {
  server: McpServerInfo;
  title: string;
}): React.JSX.Element {
  const trans = useTrans();
  const { server, title } = props;
  return (
    <div className="shoulders-Provider-head">
      <h3 id={title}>{visible(server.name)}</h3>
      <ServerState state={server.state} />
      <span className="shoulders-Settings-note">
        {sourceName(server.source, trans)}
      </span>
      {server.state !== 'review' && <EnabledSwitch server={server} />}
    </div>
  );
}

function EnabledSwitch(props: { server: McpServerInfo }): React.JSX.Element {
  const trans = useTrans();
  const { mcp } = useStore();
  const { name, state, locked } = props.server;
  const field = useField(`mcp-enabled:${name}`, state !== 'disabled', on =>
    mcp.update(mcp.api.enable(name, on === true))
  );
  return (
    <span className="shoulders-McpServer-switch">
      <Switch
        label={trans.__('Use %1', visible(name))}
        on={field.value === true}
        disabled={field.busy || locked}
        onChange={field.choose}
      />
      {field.error !== null && <ErrorNote error={field.error} />}
    </span>
  );
}

function Facts({ server }: { server: McpServerInfo }): React.JSX.Element {
  const trans = useTrans();
  return (
    <p className="shoulders-Provider-facts">
      <code>{visible(server.target)}</code>
      {server.tools.length > 0 && (
        <span className="shoulders-McpServer-count">
          {toolCount(server.tools.length, trans)}
        </span>
      )}
    </p>
  );
}

function toolCount(count: number, trans: TranslationBundle): string {
  return trans._n('%1 tool', '%1 tools', count);
}

/** Tools that the model does not get, with the reasons. */
function LeftOut(props: { server: McpServerInfo }): React.JSX.Element | null {
  const trans = useTrans();
  const { left_out } = props.server;
  return left_out.length === 0 ? null : (
    <Disclosure
      className="shoulders-McpServer-more"
      summary={trans._n(
        '%1 tool left out',
        '%1 tools left out',
        left_out.length
      )}
    >
      {() => (
        <ul className="shoulders-McpServer-left">
          {left_out.map(({ name, reason }) => (
            <li key={name}>
              <code>{visible(name)}</code> {visible(serverText(trans, reason))}
            </li>
          ))}
        </ul>
      )}
    </Disclosure>
  );
}

/** What the server wrote last. */
function Log(props: { lines: readonly string[] }): React.JSX.Element | null {
  const trans = useTrans();
  const { lines } = props;
  return lines.length === 0 ? null : (
    <Disclosure
      className="shoulders-McpServer-more"
      summary={trans.__('Last log lines')}
    >
      {() => (
        <pre className="shoulders-Trust-content" tabIndex={0}>
          <code>{visible(lines.join('\n'))}</code>
        </pre>
      )}
    </Disclosure>
  );
}
