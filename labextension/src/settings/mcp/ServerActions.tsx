/** The buttons of an MCP server, and what its test found. */

import * as React from 'react';

import { serverText } from '../../text/serverMessages';
import { visible } from '../../text/hiddenCharacters';
import { Badge, Button, ErrorNote } from '../../ui/primitives';
import { useAction, useTrans } from '../../ui/hooks';
import { useSettingsPage, useStore } from '../components/hooks';
import type { McpServerView, McpServerTest } from '../../wire/generated';
import { stateOf, type ServerState } from './serverState';
import { useSignIn } from './useSignIn';

export function ServerActions(props: {
  server: McpServerView;
  onEdit: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { store } = useSettingsPage();
  const { mcp } = store;
  const { server, onEdit } = props;
  const { name, source, lock_reason } = server;
  const state = stateOf(server);
  const { busy, error, run } = useAction();
  const [result, setResult] = React.useState<McpServerTest | null>(null);
  const shown = visible(name);
  const test = (): void => {
    setResult(null);
    run(async () => setResult(await mcp.change(mcp.api.test(name))));
  };
  const isOwn = source === 'user' && lock_reason === null;
  return (
    <>
      <TestResult result={result} />
      {state === 'sign_in' && <SignIn name={name} />}
      <div className="shoulders-Actions">
        <Button
          label={trans.__('Test %1', shown)}
          disabled={busy || !canStart(state)}
          onClick={test}
        >
          {busy ? trans.__('Testing…') : trans.__('Test')}
        </Button>
        <RunButtons server={server} busy={busy} run={run} />
        {isOwn && (
          <Button label={trans.__('Edit %1', shown)} onClick={onEdit}>
            {trans.__('Edit')}
          </Button>
        )}
        {isOwn && <RemoveButton name={name} />}
      </div>
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}

/** Restarts the server, or signs out of it. */
function RunButtons(props: {
  server: McpServerView;
  busy: boolean;
  run: (act: () => Promise<unknown>) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { mcp } = useStore();
  const { server, busy, run } = props;
  const { name } = server;
  const state = stateOf(server);
  const shown = visible(name);
  return (
    <>
      {(state === 'running' || state === 'failed') && (
        <Button
          label={trans.__('Restart %1', shown)}
          disabled={busy}
          onClick={() => run(() => mcp.change(mcp.api.restart(name)))}
        >
          {trans.__('Restart')}
        </Button>
      )}
      {server.authorization === 'signed_in' && (
        <Button
          label={trans.__('Sign out of %1', shown)}
          disabled={busy}
          onClick={() => run(() => mcp.change(mcp.api.signOut(name)))}
        >
          {trans.__('Sign out')}
        </Button>
      )}
    </>
  );
}

/** Whether a server may be started. */
function canStart(state: ServerState): boolean {
  return state === 'idle' || state === 'running' || state === 'failed';
}

function RemoveButton({ name }: { name: string }): React.JSX.Element {
  const trans = useTrans();
  const { store, host } = useSettingsPage();
  const { mcp } = store;
  const { busy, error, run } = useAction();
  const shown = visible(name);
  const remove = async (): Promise<void> => {
    const sure = await host.confirm(
      trans.__('Remove %1?', shown),
      trans.__('Its entry is removed from your file of servers.'),
      trans.__('Remove')
    );
    if (sure) {
      await mcp.change(mcp.api.remove(name));
    }
  };
  return (
    <>
      <Button
        label={trans.__('Remove %1', shown)}
        disabled={busy}
        onClick={() => run(remove)}
      >
        {trans.__('Remove')}
      </Button>
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}

function SignIn({ name }: { name: string }): React.JSX.Element {
  const trans = useTrans();
  const { busy, error, link, waits, signIn } = useSignIn(name);
  return (
    <div className="shoulders-McpServer-value">
      <div className="shoulders-Actions">
        <Button
          kind="primary"
          label={trans.__('Sign in to %1', visible(name))}
          disabled={busy}
          onClick={signIn}
        >
          {trans.__('Sign in…')}
        </Button>
        {link !== null && (
          <a
            className="shoulders-Link"
            href={link}
            target="_blank"
            rel="noopener noreferrer"
          >
            {trans.__('Open the sign-in page')}
          </a>
        )}
      </div>
      <p className="shoulders-Settings-note" role="status">
        {waits ? trans.__('Continue in the tab that was opened.') : ''}
      </p>
      {error !== null && <ErrorNote error={error} />}
    </div>
  );
}

function TestResult(props: {
  result: McpServerTest | null;
}): React.JSX.Element {
  const trans = useTrans();
  const { result } = props;
  return (
    <div role="status">
      {result !== null && (
        <p className="shoulders-Provider-result">
          <Badge kind={result.ok ? 'good' : 'bad'}>
            {result.ok ? trans.__('works') : trans.__('failed')}
          </Badge>
          <span>
            {[result.message, result.hint ?? '']
              .map(text => visible(serverText(trans, text)))
              .join(' ')}
          </span>
        </p>
      )}
    </div>
  );
}
