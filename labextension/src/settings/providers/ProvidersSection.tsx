/** Providers: keys, health, and a test call. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { Badge, Button, ErrorNote, Hint } from '../../ui/primitives';
import { useAction, useTrans } from '../../ui/hooks';
import { visible } from '../../text/hiddenCharacters';
import type {
  ModelList,
  ProviderHealth,
  ProviderTest
} from '../../wire/generated';
import { AddProvider } from './AddProvider';
import { EditProvider } from './EditProvider';
import { useFocusAfter } from '../components/useFocusRecovery';
import { KeyForm } from './KeyForm';
import { Loaded, problemText, Problems } from '../components/components';
import { TestResult } from './TestResult';
import { useSettingsPage, useStore } from '../components/hooks';

export function ProvidersSection(): React.JSX.Element {
  const trans = useTrans();
  const { models } = useStore();
  return (
    <>
      <p className="shoulders-Settings-note">
        {trans.__(
          'Keys are kept on the server, outside the workspace, and are never shown again. An environment variable takes precedence over a stored key.'
        )}
      </p>
      <Loaded resource={models}>
        {value => (
          <>
            <AddProvider list={value} />
            <List list={value} />
          </>
        )}
      </Loaded>
    </>
  );
}

function List({ list }: { list: ModelList }): React.JSX.Element {
  useChecks(list.providers);
  const rank = ({ key_set, needs_key }: ProviderHealth): number =>
    key_set ? 0 : needs_key ? 2 : 1;
  const sorted = [...list.providers].sort((a, b) => rank(a) - rank(b));
  return (
    <>
      <Problems problems={list.problems.map(problemText)} />
      <ul className="shoulders-Cards">
        {sorted.map(provider => (
          <Provider key={provider.id} provider={readable(provider)} />
        ))}
      </ul>
    </>
  );
}

/** Names come from files; makes hidden characters visible. */
function readable(provider: ProviderHealth): ProviderHealth {
  const { name, host, key_name } = provider;
  return {
    ...provider,
    name: visible(name),
    host: visible(host),
    key_name: key_name === null ? null : visible(key_name)
  };
}

/** Check each available provider once per key. */
function useChecks(providers: readonly ProviderHealth[]): void {
  const store = useStore();
  const asked = React.useRef(new Set<string>());
  React.useEffect(() => {
    for (const { id, state, host, key_last4 } of providers) {
      const name = `${id}:${key_last4 ?? ''}`;
      if (state === 'unknown' && host !== '' && !asked.current.has(name)) {
        asked.current.add(name);
        // Its health reports the error; if the server is unreachable, the next action reports that.
        store.check(id).catch(() => undefined);
      }
    }
  }, [store, providers]);
}

function Provider(props: { provider: ProviderHealth }): React.JSX.Element {
  const trans = useTrans();
  const { store, host } = useSettingsPage();
  const { provider } = props;
  const title = React.useId();
  const removal = useAction();
  const [result, setResult] = React.useState<ProviderTest | null>(null);
  const [editing, setEditing] = React.useState(false);
  const remove = async (): Promise<void> => {
    const sure = await host.confirm(
      trans.__('Remove the key for %1?', provider.name),
      trans.__('Its models will not work until you add another key.'),
      trans.__('Remove')
    );
    if (sure) {
      await store.removeKey(provider.id);
    }
  };
  const isStored = isKeyStored(provider);
  const ref = React.useRef<HTMLLIElement>(null);
  useFocusAfter(!isStored && !removal.busy, () =>
    ref.current?.querySelector('input')
  );
  return (
    <li className="shoulders-Provider" aria-labelledby={title} ref={ref}>
      <div className="shoulders-Provider-head">
        <h3 id={title}>{provider.name}</h3>
        <State provider={provider} />
        {provider.local && <Badge>{trans.__('on this computer')}</Badge>}
        {provider.custom && (
          <Badge title={trans.__('Written in ~/.shoulders/models.json')}>
            {trans.__('added by you')}
          </Badge>
        )}
      </div>
      <p className="shoulders-Provider-facts">{factsOf(provider, trans)}</p>
      <Trouble provider={provider} />
      {editing ? (
        <EditProvider provider={provider} onDone={() => setEditing(false)} />
      ) : (
        <>
          {takesKey(provider) && (
            <KeyForm provider={provider} onResult={setResult} />
          )}
          <TestResult name={provider.name} result={result} />
          <TestButton provider={provider} onResult={setResult}>
            {isStored && (
              <Button
                disabled={removal.busy}
                onClick={() => removal.run(remove)}
              >
                {trans.__('Remove key')}
              </Button>
            )}
            {provider.custom && (
              <OwnButtons provider={provider} onEdit={() => setEditing(true)} />
            )}
          </TestButton>
        </>
      )}
      {removal.error !== null && <ErrorNote error={removal.error} />}
    </li>
  );
}

function takesKey({ needs_key, key_source }: ProviderHealth): boolean {
  return needs_key && key_source !== 'environment';
}

function isKeyStored({ key_source }: ProviderHealth): boolean {
  return key_source === 'file' || key_source === 'keyring';
}

/** Buttons for a provider of the user's own. */
function OwnButtons(props: {
  provider: ProviderHealth;
  onEdit: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { store, host } = useSettingsPage();
  const { busy, error, run } = useAction();
  const { id, name } = props.provider;
  const remove = async (): Promise<void> => {
    const sure = await host.confirm(
      trans.__('Remove %1?', name),
      trans.__(
        'Its entries in ~/.shoulders/models.json and its stored key are removed.'
      ),
      trans.__('Remove')
    );
    if (sure) {
      await store.removeProvider(id);
    }
  };
  return (
    <>
      <Button label={trans.__('Edit %1', name)} onClick={props.onEdit}>
        {trans.__('Edit')}
      </Button>
      <Button
        label={trans.__('Remove %1', name)}
        disabled={busy}
        onClick={() => run(remove)}
      >
        {trans.__('Remove')}
      </Button>
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}

/** Why the provider is unavailable, and what to do. */
function Trouble({
  provider
}: {
  provider: ProviderHealth;
}): React.JSX.Element | null {
  const { error } = provider;
  if (error === null) {
    return null;
  }
  return isDown(provider) ? (
    <p className="shoulders-Provider-facts">
      <Hint text={error.hint ?? ''} />
    </p>
  ) : (
    <ErrorNote error={error} />
  );
}

function State(props: { provider: ProviderHealth }): React.JSX.Element {
  const trans = useTrans();
  switch (props.provider.state) {
    case 'ok':
      return <Badge kind="good">{trans.__('working')}</Badge>;
    case 'failing':
      return isDown(props.provider) ? (
        <Badge>{trans.__('not running')}</Badge>
      ) : (
        <Badge kind="bad">{trans.__('failing')}</Badge>
      );
    case 'no_key':
      return <Badge>{trans.__('no key')}</Badge>;
    case 'unknown':
      return (
        <Badge>
          {isDemo(props.provider)
            ? trans.__('built in')
            : trans.__('not tested yet')}
        </Badge>
      );
  }
}

/** The demo comes with the extension and has no model. */
function isDemo({ kind }: ProviderHealth): boolean {
  return kind === 'demo';
}

/** A local program that does not run is no error. */
function isDown({ local, error }: ProviderHealth): boolean {
  return local && error?.code === 'provider_unreachable';
}

/** Makes one real call. */
function TestButton(props: {
  provider: ProviderHealth;
  onResult: (result: ProviderTest | null) => void;
  children: React.ReactNode;
}): React.JSX.Element {
  const trans = useTrans();
  const { provider, onResult, children } = props;
  const store = useStore();
  const { busy, error, run } = useAction();
  const test = (): void => {
    onResult(null);
    run(async () => onResult(await store.test(provider.id)));
  };
  return (
    <>
      <div className="shoulders-Actions">
        <Button disabled={busy || provider.state === 'no_key'} onClick={test}>
          {busy ? trans.__('Testing…') : trans.__('Test')}
        </Button>
        {children}
      </div>
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}

function factsOf(provider: ProviderHealth, trans: TranslationBundle): string {
  return [provider.host, keyText(provider, trans)]
    .filter(part => part !== '')
    .join(' · ');
}

function keyText(provider: ProviderHealth, trans: TranslationBundle): string {
  const { key_set, key_last4, key_source, key_name, needs_key } = provider;
  if (!key_set) {
    return isDemo(provider)
      ? trans.__(
          'A scripted demo of what the agent can do: no AI model, no key, no cost'
        )
      : needs_key
        ? ''
        : trans.__('needs no key');
  }
  const key =
    key_last4 === null
      ? trans.__('key set')
      : trans.__('key set: ····%1', key_last4);
  switch (key_source) {
    case 'environment':
      return trans.__('%1 (from the environment: %2)', key, key_name ?? '');
    case 'keyring':
      return trans.__('%1 (in the system’s keyring)', key);
    case 'file':
      return trans.__('%1 (in ~/.shoulders/keys.env)', key);
    case 'none':
      return key;
  }
}
