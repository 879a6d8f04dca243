/** What to paste into a program, by program. */

import * as React from 'react';

import { useTrans } from '../../ui/hooks';
import { Group } from '../components/components';
import { Row } from '../components/fields';
import {
  clientEntry,
  CLIENTS,
  TOKEN_PLACEHOLDER,
  type Client
} from './clientEntries';
import { CopiedText } from './CopiedText';

export function ClientSetup(props: {
  address: string;
  /** The token that was just made; null otherwise. */
  token: string | null;
}): React.JSX.Element {
  const trans = useTrans();
  const [client, setClient] = React.useState<Client>('claude-code');
  const { address, token } = props;
  const secret = token ?? TOKEN_PLACEHOLDER;
  const entries = CLIENTS.map(
    each => [each, clientEntry(each, address, secret)] as const
  );
  const entry = clientEntry(client, address, secret);
  return (
    <Group title={trans.__('Connect a program')}>
      <Row
        label={trans.__('Program')}
        control={id => (
          <select
            id={id}
            className="shoulders-Input"
            value={client}
            onChange={
              event => setClient(event.target.value as Client) // Its options are these.
            }
          >
            {entries.map(([each, { name }]) => (
              <option key={each} value={each}>
                {name}
              </option>
            ))}
          </select>
        )}
      />
      <p className="shoulders-Settings-note">
        {entry.file === null
          ? trans.__('Run in a terminal:')
          : trans.__('Paste into %1:', entry.file)}
      </p>
      <CopiedText
        text={entry.text}
        label={trans.__('Entry for %1', entry.name)}
      />
      {token === null && (
        <p className="shoulders-Settings-note">
          {trans.__(
            'Replace %1 by a token. Create one above to have it filled in.',
            TOKEN_PLACEHOLDER
          )}
        </p>
      )}
    </Group>
  );
}
