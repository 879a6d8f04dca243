/** Hands a provider's key to the server, which tries it; it is never kept in the page. */

import * as React from 'react';

import type { ProviderHealth } from '../../wire/generated';
import { ErrorNote } from '../parts';
import { focusField, useAction, useHost, usePlace, useTrans } from '../use';

export function KeyForm(props: {
  providers: readonly ProviderHealth[];
}): React.JSX.Element {
  const trans = useTrans();
  const { busy, error, run } = useAction();
  const connect = useConnect();
  const [provider, setProvider] = React.useState(props.providers[0]?.id ?? '');
  const [key, setKey] = React.useState('');
  const chosen = props.providers.find(({ id }) => id === provider);
  const ready = key !== '' && !busy;
  return (
    <form
      className="shoulders-KeyForm"
      onSubmit={event => {
        event.preventDefault();
        if (ready) {
          run(async () => {
            await connect(provider, key);
            setKey('');
          });
        }
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
        onChange={event => setKey(event.target.value)}
      />
      <button
        type="submit"
        className="shoulders-Button shoulders-mod-primary"
        disabled={!ready}
      >
        {busy ? trans.__('Trying it…') : trans.__('Save')}
      </button>
      {error !== null && <ErrorNote error={error} />}
      {chosen?.key_name && (
        <p className="shoulders-KeyForm-note">
          {trans.__(
            'Kept on the server, for you alone. Or set %1 before you start Jupyter.',
            chosen.key_name
          )}
        </p>
      )}
    </form>
  );
}

/** Stores a key and, when it works, has the provider answer in place of the demo. */
function useConnect(): (provider: string, key: string) => Promise<void> {
  const host = useHost();
  const { conversations, tab } = usePlace();
  return async (provider, key) => {
    try {
      await host.setKey(provider, key);
    } finally {
      await conversations.refresh();
    }
    const { models = [], default: first } = conversations.models ?? {};
    const own = models.filter(
      model => model.provider === provider && model.available
    );
    const best = own.find(({ id }) => id === first) ?? own[0];
    const current = models.find(({ id }) => id === conversations.model(tab));
    if (best !== undefined && current?.provider === 'demo') {
      conversations.setModel(tab, best.id);
    }
    focusField();
  };
}
