/** Asks whether a server that came with the folder may start: its exact entry, and what changed in it. */

import * as React from 'react';

import { visible } from '../../text/hiddenCharacters';
import { WordDiff } from '../../ui/viewers/Diff';
import { Button, ErrorNote } from '../../ui/primitives';
import { useAction, useTrans } from '../../ui/hooks';
import { useStore } from '../components/hooks';
import type { McpServerInfo } from '../store/mcpWire';

export function ServerReview(props: {
  server: McpServerInfo;
}): React.JSX.Element {
  const trans = useTrans();
  const { mcp } = useStore();
  const { busy, error, run } = useAction();
  const { server } = props;
  const { name, content, previous, review_id } = server;
  const isProgram = server.host === null;
  const answer = (allow: boolean): void =>
    run(() =>
      mcp.change(mcp.api.answer(name, { allow, review_id: review_id ?? '' }))
    );
  return (
    <>
      <p className="shoulders-McpServer-question">
        {questionOf(isProgram, previous !== null, trans)}
      </p>
      {previous === null ? (
        <pre className="shoulders-Trust-content" tabIndex={0}>
          <code>{visible(content)}</code>
        </pre>
      ) : (
        <WordDiff before={previous} after={content} />
      )}
      {error !== null && <ErrorNote error={error} />}
      <div className="shoulders-Actions">
        <Button
          kind="primary"
          label={trans.__('Allow %1', visible(name))}
          disabled={busy}
          onClick={() => answer(true)}
        >
          {trans.__('Allow')}
        </Button>
        <Button
          label={trans.__('Don’t allow %1', visible(name))}
          disabled={busy}
          onClick={() => answer(false)}
        >
          {trans.__('Don’t allow')}
        </Button>
      </div>
    </>
  );
}

function questionOf(
  isProgram: boolean,
  isChanged: boolean,
  trans: ReturnType<typeof useTrans>
): string {
  if (isChanged) {
    return trans.__('This entry changed since you allowed it:');
  }
  return isProgram
    ? trans.__(
        'This folder wants to run a program on your computer, with your permissions:'
      )
    : trans.__('This folder wants to connect the agent to a server:');
}
