/** What is above and below a conversation that another program leads through our tools. */

import * as React from 'react';

import { visible } from '../text/hiddenCharacters';
import { Badge } from '../ui/primitives';
import {
  useHost,
  useLeadingClient,
  useTabContext,
  useTrans
} from '../ui/hooks';
import { nameOfSource } from './sessions/itemLabels';

/** Names the program; nothing in an ordinary conversation. */
export function ClientBar(): React.JSX.Element | null {
  const client = useLeadingClient();
  return client === null ? null : <Bar client={client} />;
}

function Bar({ client }: { client: string }): React.JSX.Element {
  const trans = useTrans();
  const { Icon } = useHost();
  const { conversations, tab } = useTabContext();
  const source = conversations.session(tab)?.source ?? 'mcp';
  return (
    <div
      className="shoulders-ClientBar"
      role="group"
      aria-label={trans.__('Connected program')}
    >
      <Icon name="link" />
      <strong className="shoulders-ClientBar-name">
        {useClientName(client)}
      </strong>
      <Badge>{nameOfSource(source, trans)}</Badge>
    </div>
  );
}

/** Shown instead of the input, because a message would not reach the program. */
export function ClientNote({ client }: { client: string }): React.JSX.Element {
  const trans = useTrans();
  return (
    <p className="shoulders-ClientNote">
      {trans.__(
        '%1 leads this conversation: write to it there. Allow, stop and undo what it does here.',
        useClientName(client)
      )}
    </p>
  );
}

/** Shown before the first call. */
export function NoCalls({ client }: { client: string }): React.JSX.Element {
  const trans = useTrans();
  return (
    <div className="shoulders-Messages">
      <p className="shoulders-ClientNote">
        {trans.__('%1 has not called a tool yet.', useClientName(client))}
      </p>
    </div>
  );
}

function useClientName(client: string): string {
  const trans = useTrans();
  return client === '' ? trans.__('Another program') : visible(client);
}
