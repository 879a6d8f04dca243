/** One MCP server: state, exact command or address, tools, log, and what it needs from the user. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { plainError } from '../../client/http';
import { visible } from '../../text/hiddenCharacters';
import { serverText } from '../../text/serverMessages';
import { Disclosure, ErrorNote } from '../../ui/primitives';
import { useTrans } from '../../ui/hooks';
import { Switch } from '../components/fields';
import { useField, useStore } from '../components/hooks';
import type { McpServerView } from '../../wire/generated';
import { MissingValue } from './MissingValue';
import { ServerActions } from './ServerActions';
import { EditServer } from './ServerForm';
import { ServerReview } from './ServerReview';
import { sourceName, StateBadge } from './StateBadge';
import { stateOf, targetOf } from './serverState';

export function ServerCard(props: {
  server: McpServerView;
}): React.JSX.Element {
  const { server } = props;
  const title = React.useId();
  const [editing, setEditing] = React.useState(false);
  const asks = stateOf(server) === 'review';
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
          <Trouble server={server} />
          {server.missing_values.map(({ name }) => (
            <MissingValue key={name} server={server} variable={name} />
          ))}
          <LeftOut server={server} />
          <Log lines={server.log_lines} />
          <ServerActions server={server} onEdit={() => setEditing(true)} />
        </>
      )}
    </li>
  );
}

function Head(props: {
  server: McpServerView;
  title: string;
}): React.JSX.Element {
  const trans = useTrans();
  const { server, title } = props;
  return (
    <div className="shoulders-Provider-head">
      <h3 id={title}>{visible(server.name)}</h3>
      <StateBadge state={stateOf(server)} />
      <span className="shoulders-Settings-note">
        {sourceName(server.source, trans)}
      </span>
      {stateOf(server) !== 'review' && <EnabledSwitch server={server} />}
    </div>
  );
}

function EnabledSwitch(props: { server: McpServerView }): React.JSX.Element {
  const trans = useTrans();
  const { mcp } = useStore();
  const { name, enabled, lock_reason } = props.server;
  const field = useField(`mcp-enabled:${name}`, enabled, on =>
    mcp.change(mcp.api.enable(name, on === true))
  );
  return (
    <span className="shoulders-McpServer-switch">
      <Switch
        label={trans.__('Use %1', visible(name))}
        on={field.value === true}
        disabled={field.busy || lock_reason !== null}
        onChange={field.choose}
      />
      {field.error !== null && <ErrorNote error={field.error} />}
    </span>
  );
}

function Facts({ server }: { server: McpServerView }): React.JSX.Element {
  const trans = useTrans();
  const offer = offerOf(server, trans);
  return (
    <p className="shoulders-Provider-facts">
      <code>{visible(targetOf(server))}</code>
      {offer !== '' && <span>{offer}</span>}
    </p>
  );
}

/** What the server offers, in numbers, once it is known, and what it may do. */
function offerOf(server: McpServerView, trans: TranslationBundle): string {
  const tools = server.tool_count ?? 0;
  const resources = server.resource_count ?? 0;
  const prompts = server.prompt_count ?? 0;
  return [
    server.tool_count === null ? '' : trans._n('%1 tool', '%1 tools', tools),
    resources === 0 ? '' : trans._n('%1 resource', '%1 resources', resources),
    prompts === 0 ? '' : trans._n('%1 prompt', '%1 prompts', prompts),
    server.sampling ? trans.__('may ask for your model') : ''
  ]
    .filter(part => part !== '')
    .join(' · ');
}

/** Why it failed or cannot start, unless a field or button below resolves that. */
function Trouble(props: { server: McpServerView }): React.JSX.Element | null {
  const trans = useTrans();
  const { server } = props;
  const { error, hint, blocked, lock_reason } = server;
  const state = stateOf(server);
  if (state === 'failed' || state === 'restarting') {
    return error === null ? null : (
      <ErrorNote error={{ ...plainError(error, true), hint }} />
    );
  }
  const reason = lock_reason ?? (EXPLAINED.has(state) ? null : blocked);
  return reason === null ? null : (
    <p className="shoulders-Settings-note">
      {visible(serverText(trans, reason))}
    </p>
  );
}

/** States whose badge, field or button says what is wrong. */
const EXPLAINED = new Set([
  'disabled',
  'declined',
  'forbidden',
  'missing_value',
  'sign_in'
]);

/** Tools that the agent is not offered, and why. */
function LeftOut(props: { server: McpServerView }): React.JSX.Element | null {
  const trans = useTrans();
  const { left_out, more_left_out, unread } = props.server;
  const count = left_out.length + more_left_out;
  if (count === 0 && unread === null) {
    return null;
  }
  return (
    <>
      {unread !== null && (
        <p className="shoulders-Settings-note">
          {visible(serverText(trans, unread))}
        </p>
      )}
      {count > 0 && (
        <Disclosure
          className="shoulders-McpServer-more"
          summary={trans._n(
            '%1 tool is not offered to the agent',
            '%1 tools are not offered to the agent',
            count
          )}
        >
          {() => (
            <ul className="shoulders-McpServer-left">
              {left_out.map(({ tool, reason }, index) => (
                <li key={index}>
                  <code>{visible(tool)}</code>:{' '}
                  {visible(serverText(trans, reason))}
                </li>
              ))}
              {more_left_out > 0 && (
                <li>
                  {trans._n('%1 more tool', '%1 more tools', more_left_out)}
                </li>
              )}
            </ul>
          )}
        </Disclosure>
      )}
    </>
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
