/** Adds a provider: recognises a pasted key or address, tests it, and stores the chosen models. */

import * as React from 'react';

import { Button, Disclosure, ErrorNote } from '../../ui/primitives';
import { useAction, useTrans } from '../../ui/hooks';
import { visible } from '../../text/hiddenCharacters';
import type {
  DetectedProvider,
  ModelList,
  SavedProvider
} from '../../wire/generated';
import {
  bodyOf,
  canDetect,
  formOfDetected,
  isAddress,
  isSecret,
  keyOf,
  problemOf,
  requestOf,
  type IDetectionInput,
  type IProviderForm
} from './providerRequest';
import { Line, TextLine } from '../components/FormLine';
import { kindsOf, ProviderFields, RequestFields } from './ProviderForm';
import { SaveRow, Stored } from './SavedProvider';
import type { SettingsStore } from '../store/settingsStore';
import { useSettingsPage, useStore } from '../components/hooks';

const NOTHING: IDetectionInput = {
  ...{ text: '', key: '', provider: '', kind: '', auth: '', headers: '' }
};

export function AddProvider({ list }: { list: ModelList }): React.JSX.Element {
  const trans = useTrans();
  const { adds } = useSettingsPage();
  const [wanted, setWanted] = React.useState(false);
  const [answered, setAnswered] = React.useState(0);
  const open = wanted || adds > answered;
  const button = React.useRef<HTMLDivElement>(null);
  const close = (): void => {
    setWanted(false);
    setAnswered(adds);
    requestAnimationFrame(() =>
      button.current?.querySelector('button')?.focus()
    );
  };
  return (
    <div ref={button} className="shoulders-AddProvider">
      {open ? (
        <Adding list={list} onDone={close} />
      ) : (
        <Button kind="primary" onClick={() => setWanted(true)}>
          {trans.__('Add provider…')}
        </Button>
      )}
    </div>
  );
}

function Adding(props: {
  list: ModelList;
  onDone: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const title = React.useId();
  const [asked, setAsked] = React.useState(NOTHING);
  const [found, setFound] = React.useState<DetectedProvider | null>(null);
  const { onDone } = props;
  const change = (part: Partial<IDetectionInput>): void => {
    setAsked({ ...asked, ...part });
    setFound(null);
  };
  return (
    <section
      className="shoulders-Provider shoulders-ProviderForm"
      aria-labelledby={title}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.stopPropagation();
          onDone();
        }
      }}
    >
      <h3 id={title}>{trans.__('Add provider')}</h3>
      <KeyOrAddress
        list={props.list}
        asked={asked}
        found={found}
        onChange={change}
        onFound={setFound}
        onCancel={onDone}
      />
      {found !== null && !found.needs_key && (
        <DetectedProviderForm
          key={found.url}
          asked={asked}
          found={found}
          onDone={onDone}
        />
      )}
    </section>
  );
}

/** The field for a key or an address. */
function KeyOrAddress(props: {
  list: ModelList;
  asked: IDetectionInput;
  found: DetectedProvider | null;
  onChange: (part: Partial<IDetectionInput>) => void;
  onFound: (found: DetectedProvider) => void;
  onCancel: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { api } = useStore();
  const { busy, error, run } = useAction();
  const { asked, found, list, onChange, onFound } = props;
  const { text, provider } = asked;
  const byAddress = isAddress(text);
  const detect = async (): Promise<void> =>
    onFound(await api.detect(requestOf(asked)));
  const isOpen = found === null || found.needs_key;
  return (
    <form
      onSubmit={event => {
        event.preventDefault();
        run(detect);
      }}
    >
      <Line label={trans.__('Key or address')}>
        {id => (
          <input
            id={id}
            className="shoulders-Input"
            type={isSecret(text) ? 'password' : 'text'}
            // The user opened it to fill it in.
            autoFocus
            autoComplete="off"
            spellCheck={false}
            placeholder={trans.__('sk-… or http://127.0.0.1:8000')}
            value={text}
            onChange={event => onChange({ text: event.target.value })}
          />
        )}
      </Line>
      {text.trim() !== '' && !byAddress && (
        <Vendor
          list={list}
          chosen={provider}
          onChoose={chosen => onChange({ provider: chosen })}
        />
      )}
      {byAddress && (
        <ServerFields asked={asked} found={found} onChange={onChange} />
      )}
      <KeyRequired found={found} />
      {error !== null && <ErrorNote error={error} />}
      <div className="shoulders-Actions">
        <button
          type="submit"
          className={`shoulders-Button ${isOpen ? 'shoulders-mod-primary' : ''}`}
          disabled={busy || !canDetect(asked)}
        >
          {busy ? trans.__('Detecting…') : trans.__('Detect')}
        </button>
        <Button onClick={props.onCancel}>{trans.__('Cancel')}</Button>
      </div>
    </form>
  );
}

/** Says that the server wants a key. */
function KeyRequired(props: {
  found: DetectedProvider | null;
}): React.JSX.Element | null {
  const trans = useTrans();
  const { found } = props;
  return found?.needs_key === true ? (
    <p role="status">
      {trans.__(
        '%1 requires a key. Paste it and press Detect.',
        visible(found.name)
      )}
    </p>
  ) : null;
}

/** How the server is called. */
function ServerFields(props: {
  asked: IDetectionInput;
  found: DetectedProvider | null;
  onChange: (part: Partial<IDetectionInput>) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { asked, found, onChange } = props;
  return (
    <>
      <TextLine
        label={trans.__('Key')}
        secret={true}
        placeholder={
          found?.needs_key === true
            ? trans.__('The server requires a key')
            : trans.__('If the server requires one')
        }
        value={asked.key}
        onChange={key => onChange({ key })}
      />
      {(found === null || found.needs_key) && (
        <Disclosure
          className="shoulders-ProviderForm-more"
          summary={trans.__('More options')}
        >
          {() => <RequestFields form={asked} onChange={onChange} />}
        </Disclosure>
      )}
    </>
  );
}

/** The vendor of a key whose form is ambiguous. */
function Vendor(props: {
  list: ModelList;
  chosen: string;
  onChoose: (provider: string) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const vendors = props.list.providers.filter(
    ({ needs_key, custom }) => needs_key && !custom
  );
  return (
    <Line label={trans.__('Provider')}>
      {id => (
        <select
          id={id}
          className="shoulders-Input"
          value={props.chosen}
          onChange={event => props.onChoose(event.target.value)}
        >
          <option value="">{trans.__('Detect from the key')}</option>
          {vendors.map(({ id: vendor, name }) => (
            <option key={vendor} value={vendor}>
              {visible(name)}
            </option>
          ))}
        </select>
      )}
    </Line>
  );
}

/** The detected provider, to be changed and saved. */
function DetectedProviderForm(props: {
  asked: IDetectionInput;
  found: DetectedProvider;
  onDone: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const store = useStore();
  const { asked, found, onDone } = props;
  const key = keyOf(asked);
  const { auth, headers } = asked;
  const [form, setForm] = React.useState<IProviderForm>(() =>
    formOfDetected(found, { key, auth, headers })
  );
  const [saved, setSaved] = React.useState<SavedProvider | null>(null);
  const { busy, error, run } = useAction();
  const send = (untested: boolean): Promise<SavedProvider> =>
    found.known
      ? saveKey(store, found.id, key, untested)
      : store.putProvider(found.id, bodyOf(form, true, untested));
  const save = (untested: boolean): void =>
    run(async () => setSaved(await send(untested)));
  if (saved?.stored === true) {
    return <Stored name={form.name} saved={saved} onDone={onDone} />;
  }
  if (found.known && key === '') {
    return (
      <p role="status">
        {trans.__('%1 is already set up.', visible(found.name))}
      </p>
    );
  }
  return (
    <>
      <p role="status">{detectedText(found, trans)}</p>
      {!found.known && (
        <ProviderFields
          form={form}
          offered={found.models.map(({ name }) => name)}
          keyNote={null}
          onChange={part => setForm({ ...form, ...part })}
        />
      )}
      <SaveRow
        problem={found.known ? '' : problemOf(form, trans)}
        busy={busy}
        error={error}
        saved={saved}
        onSave={save}
      />
    </>
  );
}

/** Store a key, testing it first unless `untested`. */
async function saveKey(
  store: SettingsStore,
  provider: string,
  key: string,
  untested: boolean
): Promise<SavedProvider> {
  if (!untested) {
    return store.tryKey(provider, key);
  }
  await store.setKey(provider, key);
  return { stored: true, provider: null, test: null };
}

function detectedText(
  found: DetectedProvider,
  trans: ReturnType<typeof useTrans>
): string {
  const api = kindsOf(trans).find(([kind]) => kind === found.kind)?.[1] ?? '';
  const models =
    found.models.length === 0
      ? trans.__('it lists no models')
      : trans._n('%1 model', '%1 models', found.models.length);
  return trans.__('Found %1: %2, %3.', visible(found.name), api, models);
}
