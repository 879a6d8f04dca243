/** Sends a provider's key to the server, which tests it. The page does not store it. */

import * as React from 'react';

import type {
  ErrorInfo,
  ModelInfo,
  ModelList,
  ProviderHealth,
  ProviderTest
} from '../../wire/generated';
import { Button, ErrorNote } from '../../ui/primitives';
import {
  focusComposer,
  useAction,
  useHost,
  useTabContext,
  useTrans
} from '../../ui/hooks';

export function ProviderKeyForm(props: {
  providers: readonly ProviderHealth[];
}): React.JSX.Element {
  const trans = useTrans();
  const { busy, error, run } = useAction();
  const connect = useConnect();
  const [provider, setProvider] = React.useState(props.providers[0]?.id ?? '');
  const [key, setKey] = React.useState('');
  const [refused, setRefused] = React.useState<ErrorInfo | null>(null);
  const chosen = props.providers.find(({ id }) => id === provider);
  const ready = key !== '' && !busy;
  const save = (untested: boolean): void =>
    run(async () => {
      const refusal = await connect(provider, key, untested);
      setRefused(refusal);
      if (refusal === null) {
        setKey('');
      }
    });
  return (
    <form
      className="shoulders-KeyForm"
      onSubmit={event => {
        event.preventDefault();
        if (ready) {
          save(false);
        }
      }}
    >
      <select
        className="shoulders-Input"
        value={provider}
        aria-label={trans.__('Provider')}
        onChange={event => {
          setProvider(event.target.value);
          setRefused(null);
        }}
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
        onChange={event => {
          setKey(event.target.value);
          setRefused(null);
        }}
      />
      <button
        type="submit"
        className="shoulders-Button shoulders-mod-primary"
        disabled={!ready}
      >
        {busy ? trans.__('Testing…') : trans.__('Save and test')}
      </button>
      {refused !== null && (
        <ErrorNote error={refused}>
          <span>{trans.__('Not saved.')}</span>
          <Button disabled={busy} onClick={() => save(true)}>
            {trans.__('Save anyway')}
          </Button>
        </ErrorNote>
      )}
      {error !== null && <ErrorNote error={error} />}
      {chosen?.key_name && (
        <p className="shoulders-KeyForm-note">
          {trans.__(
            'Stored on the server, for you only. Or set %1 before you start Jupyter.',
            chosen.key_name
          )}
        </p>
      )}
      <AddOther />
    </form>
  );
}

/** Opens the form that also accepts addresses; hidden without a settings page. */
function AddOther(): React.JSX.Element | null {
  const trans = useTrans();
  const { openSettings } = useHost();
  return openSettings === null ? null : (
    <Button onClick={() => void openSettings('providers', true)}>
      {trans.__('Another provider or server…')}
    </Button>
  );
}

/** Stores a key and, if it works, selects its provider instead of the demo; resolves to the reason for a refusal. */
function useConnect(): (
  provider: string,
  key: string,
  untested: boolean
) => Promise<ErrorInfo | null> {
  const host = useHost();
  const { conversations, tab } = useTabContext();
  return async (provider, key, untested) => {
    const { stored, test } = await host.setKey(provider, key, untested);
    if (!stored) {
      return test?.error ?? null;
    }
    await conversations.refresh();
    const { models: list } = conversations;
    const best = bestOf(list, provider, test);
    const current = conversations.model(tab);
    if (best !== undefined && isDemo(list, current)) {
      conversations.setModel(tab, best.id);
    }
    focusComposer();
    return null;
  };
}

function isDemo(list: ModelList | null, model: string | null): boolean {
  return list?.models.find(({ id }) => id === model)?.provider === 'demo';
}

/** The tested or current model, else the provider's first one with tools. */
function bestOf(
  list: ModelList | null,
  provider: string,
  test: ProviderTest | null
): ModelInfo | undefined {
  const own = (list?.models ?? []).filter(
    model => model.provider === provider && model.available
  );
  const wanted = test?.model ?? list?.default;
  return (
    own.find(({ id }) => id === wanted) ??
    own.find(({ tools }) => tools) ??
    own[0]
  );
}
