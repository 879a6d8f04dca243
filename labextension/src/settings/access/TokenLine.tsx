/** One token: name, scopes, last use, and the button that revokes it. */

import * as React from 'react';

import { formatMoment } from '../../text/numberFormat';
import { visible } from '../../text/hiddenCharacters';
import { Badge, Button, ErrorNote } from '../../ui/primitives';
import { useAction, useTrans } from '../../ui/hooks';
import type { AccessToken } from '../../wire/generated';
import { useSettingsPage } from '../components/hooks';
import { scopeNote } from './NewToken';

export function TokenLine({
  token
}: {
  token: AccessToken;
}): React.JSX.Element {
  const trans = useTrans();
  const { host, store } = useSettingsPage();
  const { busy, error, run } = useAction();
  const name = visible(token.name);
  const { created_at, last_used_at } = token;
  const revoke = async (): Promise<void> => {
    const sure = await host.confirm(
      trans.__('Revoke the token of %1?', name),
      trans.__('The program can no longer connect with it.'),
      trans.__('Revoke')
    );
    if (sure) {
      await store.access.revoke(token.id);
    }
  };
  return (
    <li className="shoulders-Line shoulders-mod-rule" aria-label={name}>
      <div className="shoulders-Line-body">
        <div className="shoulders-Line-head">
          <span className="shoulders-Line-name">{name}</span>
          {token.scopes.map(scope => (
            <Badge key={scope} title={scopeNote(scope, trans)}>
              {scope}
            </Badge>
          ))}
        </div>
        <div className="shoulders-Line-facts">
          {trans.__('created %1', formatMoment(created_at))}
          {' · '}
          {last_used_at === null
            ? trans.__('not used yet')
            : trans.__('last used %1', formatMoment(last_used_at))}
        </div>
      </div>
      <Button
        label={trans.__('Revoke %1', name)}
        disabled={busy}
        onClick={() => run(revoke)}
      >
        {trans.__('Revoke')}
      </Button>
      {error !== null && <ErrorNote error={error} />}
    </li>
  );
}
