/** Access of other programs to our MCP server: its address, tokens, and what to paste into each program. */

import * as React from 'react';

import { visible } from '../../text/hiddenCharacters';
import { Button } from '../../ui/primitives';
import { useTrans } from '../../ui/hooks';
import type { AccessTokenList, CreatedAccessToken } from '../../wire/generated';
import { Group, Loaded } from '../components/components';
import { useStore } from '../components/hooks';
import { ClientSetup } from './ClientSetup';
import { CopiedText } from './CopiedText';
import { NewToken } from './NewToken';
import { TokenLine } from './TokenLine';

export function AccessSection(): React.JSX.Element {
  const trans = useTrans();
  const { access } = useStore();
  return (
    <>
      <p className="shoulders-Settings-note">
        {trans.__(
          'Programs such as Claude Code or Codex can read, edit and run your open notebooks. Their calls are listed in the chat panel, which asks you as it asks for the agent.'
        )}
      </p>
      <Loaded resource={access.list}>
        {list =>
          list.enabled ? (
            <Access list={list} />
          ) : (
            <p className="shoulders-Settings-note" role="status">
              {trans.__('Switched off in the configuration of the server.')}
            </p>
          )
        }
      </Loaded>
    </>
  );
}

function Access({ list }: { list: AccessTokenList }): React.JSX.Element {
  const trans = useTrans();
  const [made, setMade] = React.useState<CreatedAccessToken | null>(null);
  const address = new URL(list.url_path, window.location.href).href;
  const isKept = list.tokens.some(({ id }) => id === made?.token.id);
  return (
    <>
      {list.install !== null && (
        <p className="shoulders-Settings-note" role="status">
          {trans.__('Install what it needs first:')}{' '}
          <code>{visible(list.install)}</code>
        </p>
      )}
      <Group title={trans.__('Address')}>
        <CopiedText text={address} label={trans.__('Address')} />
      </Group>
      <Group
        title={trans.__('Tokens')}
        note={trans.__('One for each program, with no more than it needs.')}
      >
        {made !== null && isKept && (
          <Created made={made} onDone={() => setMade(null)} />
        )}
        {list.tokens.length > 0 && (
          <ul className="shoulders-Lines">
            {list.tokens.map(token => (
              <TokenLine key={token.id} token={token} />
            ))}
          </ul>
        )}
        <NewToken onMade={setMade} />
      </Group>
      <ClientSetup
        address={address}
        token={isKept && made !== null ? made.secret : null}
      />
    </>
  );
}

/** A new token, which is shown once. */
function Created(props: {
  made: CreatedAccessToken;
  onDone: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { made, onDone } = props;
  const title = React.useId();
  const ref = React.useRef<HTMLElement>(null);
  React.useEffect(() => ref.current?.focus(), [made]);
  return (
    <section
      className="shoulders-Provider shoulders-mod-asking"
      aria-labelledby={title}
      tabIndex={-1}
      ref={ref}
    >
      <h3 id={title}>{trans.__('Token for %1', visible(made.token.name))}</h3>
      <CopiedText text={made.secret} label={trans.__('Token')} />
      <p className="shoulders-Settings-note">
        {trans.__(
          'Copy it now: it is not shown again. The entries below contain it.'
        )}
      </p>
      <div className="shoulders-Actions">
        <Button onClick={onDone}>{trans.__('Done')}</Button>
      </div>
    </section>
  );
}
