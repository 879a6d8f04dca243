/** Without a model: three ways on. */

import * as React from 'react';

import type { ProviderHealth } from '../wire/generated';
import { Button, Disclosure, ErrorNote } from './parts';
import { useAction, useHost, usePlace, useTrans } from './use';

/** The ways to a model; `quiet` while the demo answers already. */
export function Setup({ quiet }: { quiet?: boolean }): React.JSX.Element {
  const trans = useTrans();
  return quiet === true ? (
    <Disclosure
      className="shoulders-Setup"
      summary={trans.__('This is the demo. Connect a real model…')}
    >
      {() => <Ways />}
    </Disclosure>
  ) : (
    <div className="shoulders-Setup">
      <Ways />
    </div>
  );
}

function Ways(): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = usePlace();
  const providers = (conversations.models?.providers ?? []).filter(
    ({ needs_key }) => needs_key
  );
  const demo = conversations.models?.models.find(
    model => model.provider === 'demo' && model.available
  );
  return (
    <>
      {demo !== undefined && (
        <section>
          <h3>{trans.__('Try the demo')}</h3>
          <p>{trans.__('Works offline, knows a few tricks, costs nothing.')}</p>
          <Button onClick={() => conversations.setModel(tab, demo.id)}>
            {trans.__('Use the demo')}
          </Button>
        </section>
      )}
      <section>
        <h3>{trans.__('Run a model on this machine')}</h3>
        <p>
          {trans.__(
            'Start Ollama and name one of its models in .shoulders/models.json. Nothing leaves this machine.'
          )}
        </p>
      </section>
      {providers.length > 0 && (
        <section>
          <h3>{trans.__('Use a provider’s key')}</h3>
          <KeyForm providers={providers} />
        </section>
      )}
    </>
  );
}

/** Hands a key to the server; it is never kept in the page. */
function KeyForm(props: {
  providers: readonly ProviderHealth[];
}): React.JSX.Element {
  const trans = useTrans();
  const { setKey } = useHost();
  const { conversations } = usePlace();
  const { busy, error, run } = useAction();
  const [provider, setProvider] = React.useState(props.providers[0]?.id ?? '');
  const [key, setKeyText] = React.useState('');
  const save = async (): Promise<void> => {
    try {
      await setKey(provider, key);
      setKeyText('');
    } finally {
      await conversations.refresh();
    }
  };
  return (
    <form
      className="shoulders-KeyForm"
      onSubmit={event => {
        event.preventDefault();
        run(save);
      }}
    >
      <select
        className="shoulders-Input"
        value={provider}
        aria-label={trans.__('Provider')}
        onChange={event => setProvider(event.target.value)}
      >
        {props.providers.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <input
        className="shoulders-Input"
        type="password"
        autoComplete="off"
        value={key}
        placeholder={trans.__('Key')}
        aria-label={trans.__('Key')}
        onChange={event => setKeyText(event.target.value)}
      />
      <Button
        kind="primary"
        disabled={busy || key === ''}
        onClick={() => run(save)}
      >
        {trans.__('Save')}
      </Button>
      {error !== null && <ErrorNote error={error} />}
    </form>
  );
}
