/** Asks whether a server that came with the folder may start, and shows its exact entry. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { visible } from '../../text/hiddenCharacters';
import { hostText } from '../../trust/items';
import { Badge, Button, ErrorNote } from '../../ui/primitives';
import { useAction, useTrans } from '../../ui/hooks';
import { Problems } from '../components/components';
import { useResource, useStore } from '../components/hooks';
import type { McpServerView } from '../../wire/generated';
import { targetOf } from './serverState';

export function ServerReview(props: {
  server: McpServerView;
}): React.JSX.Element {
  const trans = useTrans();
  const { server } = props;
  const { value: folder } = useResource(useStore().folderTrust.view);
  const item = folder?.items.find(({ id }) => id === server.trust_id);
  return (
    <>
      {server.trust === 'changed' && (
        <div>
          <Badge kind="warning">
            {trans.__('Changed since you allowed it')}
          </Badge>
        </div>
      )}
      <p className="shoulders-McpServer-question">
        {questionOf(server, trans)}
      </p>
      <pre className="shoulders-Trust-content" tabIndex={0}>
        <code>{visible(targetOf(server))}</code>
      </pre>
      <Problems problems={item?.warnings ?? []} />
      {item !== undefined && (
        <>
          <p className="shoulders-Settings-note">
            {trans.__('The entry in %1:', visible(item.file))}
          </p>
          <pre className="shoulders-Trust-content" tabIndex={0}>
            <code>{visible(item.content)}</code>
          </pre>
        </>
      )}
      <Answers server={server} />
    </>
  );
}

function Answers({ server }: { server: McpServerView }): React.JSX.Element {
  const trans = useTrans();
  const { mcp, folderTrust } = useStore();
  const { busy, error, run } = useAction();
  const name = visible(server.name);
  const ids = server.trust_id === null ? [] : [server.trust_id];
  const answer = (allow: boolean): void =>
    run(() =>
      mcp.change(folderTrust.answer(allow ? { trust: ids } : { decline: ids }))
    );
  return (
    <>
      {error !== null && <ErrorNote error={error} />}
      <div className="shoulders-Actions">
        <Button
          label={trans.__('Allow %1', name)}
          disabled={busy}
          onClick={() => answer(true)}
        >
          {trans.__('Allow')}
        </Button>
        <Button
          label={trans.__('Don’t allow %1', name)}
          disabled={busy}
          onClick={() => answer(false)}
        >
          {trans.__('Don’t allow')}
        </Button>
      </div>
    </>
  );
}

function questionOf({ host }: McpServerView, trans: TranslationBundle): string {
  return host === null
    ? trans.__(
        'This folder wants to run a program on your computer, with your permissions:'
      )
    : trans.__('This folder wants to connect the agent to %1:', hostText(host));
}
