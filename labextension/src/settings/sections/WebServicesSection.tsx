/** The web services that tools use: keys, addresses, and a test of each. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { useAction, useTrans } from '../../ui/hooks';
import { Badge, Button, ErrorNote } from '../../ui/primitives';
import { serverText } from '../../text/serverMessages';
import { visible } from '../../text/hiddenCharacters';
import type { ServiceTest, WebServiceInfo } from '../../wire/generated';
import { Group, Loaded } from '../components/components';
import { useField, useSettingsPage, useStore } from '../components/hooks';

type Kind = WebServiceInfo['kinds'][number];

export function WebServicesSection(): React.JSX.Element {
  const trans = useTrans();
  const { services } = useStore();
  return (
    <>
      <p className="shoulders-Settings-note">
        {trans.__(
          'The agent searches the web and scientific literature through these services. They receive what it searches for. Keys are kept on the server and are never shown again.'
        )}
      </p>
      <Loaded resource={services}>
        {value => (
          <>
            {value.disabled !== null && (
              <p className="shoulders-Settings-note" role="status">
                {serverText(trans, value.disabled)}
              </p>
            )}
            {groupsOf(value.services).map(([kind, members]) => (
              <Group key={kind} title={titleOf(kind, trans)}>
                <ul className="shoulders-Cards">
                  {members.map(service => (
                    <Service key={service.id} service={service} />
                  ))}
                </ul>
              </Group>
            ))}
          </>
        )}
      </Loaded>
    </>
  );
}

/** Services by what they are mainly used for. */
function groupsOf(
  services: readonly WebServiceInfo[]
): [Kind, WebServiceInfo[]][] {
  const kinds: Kind[] = ['web_search', 'papers', 'register', 'library'];
  const mainKind = ({ kinds: own }: WebServiceInfo): Kind | undefined =>
    kinds.find(kind => own.includes(kind));
  return kinds
    .map((kind): [Kind, WebServiceInfo[]] => [
      kind,
      services.filter(service => mainKind(service) === kind)
    ])
    .filter(([, members]) => members.length > 0);
}

function titleOf(kind: Kind, trans: TranslationBundle): string {
  switch (kind) {
    case 'web_search':
      return trans.__('Search of the web');
    case 'papers':
      return trans.__('Search of papers');
    case 'register':
      return trans.__('Registers of publications');
    case 'library':
      return trans.__('Your library');
  }
}

function Service(props: { service: WebServiceInfo }): React.JSX.Element {
  const trans = useTrans();
  const { service } = props;
  const title = React.useId();
  const [result, setResult] = React.useState<ServiceTest | null>(null);
  return (
    <li className="shoulders-Provider" aria-labelledby={title}>
      <div className="shoulders-Provider-head">
        <h3 id={title}>{service.title}</h3>
        <State service={service} />
      </div>
      <p className="shoulders-Provider-facts shoulders-Service-facts">
        <span>{serverText(trans, service.purpose)}</span>
        {isAddressShown(service) && <span>{visible(service.address)}</span>}
      </p>
      {service.key_variable !== null &&
        service.key_source !== 'environment' && (
          <KeyField service={service} onChange={() => setResult(null)} />
        )}
      {service.address_editable && !service.address_locked && (
        <AddressField service={service} onChange={() => setResult(null)} />
      )}
      <Result result={result} />
      <Actions service={service} onResult={setResult} />
    </li>
  );
}

/** Whether the address is shown as text: it is not in a field. */
function isAddressShown(service: WebServiceInfo): boolean {
  const { address, address_editable, address_locked } = service;
  return address !== '' && (!address_editable || address_locked);
}

function State({ service }: { service: WebServiceInfo }): React.JSX.Element {
  const trans = useTrans();
  const { key_source, key_required, key_last4, key_variable } = service;
  if (service.address === '') {
    return <Badge>{trans.__('no address')}</Badge>;
  }
  if (key_source === 'environment') {
    return (
      <Badge title={key_variable ?? ''}>
        {trans.__('key from %1', key_variable ?? '')}
      </Badge>
    );
  }
  if (key_source !== null) {
    return (
      <Badge>
        {key_last4 === null
          ? trans.__('key set')
          : trans.__('key …%1', key_last4)}
      </Badge>
    );
  }
  return (
    <Badge>
      {key_required ? trans.__('no key') : trans.__('needs no key')}
    </Badge>
  );
}

function KeyField(props: {
  service: WebServiceInfo;
  onChange: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const store = useStore();
  const { id, title, key_source, key_url } = props.service;
  const field = useField(`service-key:${id}`, '', async key => {
    await store.setServiceKey(id, typeof key === 'string' ? key.trim() : '');
    props.onChange();
  });
  const typed = typeof field.value === 'string' ? field.value : '';
  return (
    <form
      className="shoulders-Settings-key"
      onSubmit={event => {
        event.preventDefault();
        field.save();
      }}
    >
      <input
        className="shoulders-Input"
        type="password"
        autoComplete="off"
        aria-label={trans.__('Key for %1', title)}
        placeholder={
          key_source === null
            ? trans.__('Paste a key…')
            : trans.__('Replace the key…')
        }
        value={typed}
        onChange={event => field.edit(event.target.value)}
      />
      {typed !== '' && (
        <SaveButton busy={field.busy} disabled={typed.trim() === ''} />
      )}
      {typed === '' && key_source === null && key_url !== null && (
        <a
          className="shoulders-Link"
          href={key_url}
          target="_blank"
          rel="noopener noreferrer"
        >
          {trans.__('Get a key')}{' '}
          <span className="shoulders-Markdown-host">
            ({visible(new URL(key_url).host)})
          </span>
        </a>
      )}
      {field.error !== null && <ErrorNote error={field.error} />}
    </form>
  );
}

function AddressField(props: {
  service: WebServiceInfo;
  onChange: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const store = useStore();
  const { id, title, address } = props.service;
  const field = useField(`service-address:${id}`, address, async value => {
    const given = typeof value === 'string' ? value.trim() : '';
    await store.setServiceAddress(id, given === '' ? null : given);
    props.onChange();
  });
  const typed = typeof field.value === 'string' ? field.value : '';
  return (
    <form
      className="shoulders-Settings-key"
      onSubmit={event => {
        event.preventDefault();
        field.save();
      }}
    >
      <input
        className="shoulders-Input"
        type="url"
        autoComplete="off"
        aria-label={trans.__('Address of %1', title)}
        placeholder={trans.__('Address, such as %1', 'http://127.0.0.1:8888')}
        value={typed}
        onChange={event => field.edit(event.target.value)}
      />
      {field.isDirty && <SaveButton busy={field.busy} disabled={false} />}
      {field.error !== null && <ErrorNote error={field.error} />}
    </form>
  );
}

function SaveButton(props: {
  busy: boolean;
  disabled: boolean;
}): React.JSX.Element {
  const trans = useTrans();
  return (
    <button
      type="submit"
      className="shoulders-Button shoulders-mod-primary"
      disabled={props.busy || props.disabled}
    >
      {trans.__('Save')}
    </button>
  );
}

function Result(props: { result: ServiceTest | null }): React.JSX.Element {
  const trans = useTrans();
  const { result } = props;
  return (
    <div role="status">
      {result !== null && (
        <p className="shoulders-Provider-result">
          <Badge kind={result.ok ? 'good' : 'bad'}>
            {result.ok ? trans.__('works') : trans.__('failed')}
          </Badge>
          <span>
            {[result.message, result.hint ?? '']
              .map(text => visible(serverText(trans, text)))
              .join(' ')}
          </span>
        </p>
      )}
    </div>
  );
}

function Actions(props: {
  service: WebServiceInfo;
  onResult: (result: ServiceTest | null) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { host, store } = useSettingsPage();
  const { id, title, key_source, address } = props.service;
  const { busy, error, run } = useAction();
  const remove = async (): Promise<void> => {
    const sure = await host.confirm(
      trans.__('Remove the key for %1?', title),
      trans.__('The agent will not use this key any more.'),
      trans.__('Remove')
    );
    if (sure) {
      await store.setServiceKey(id, null);
      props.onResult(null);
    }
  };
  return (
    <div className="shoulders-Actions">
      <Button
        label={trans.__('Test %1', title)}
        disabled={busy || address === ''}
        onClick={() =>
          run(async () => {
            props.onResult(await store.api.testService(id));
          })
        }
      >
        {busy ? trans.__('Testing…') : trans.__('Test')}
      </Button>
      {(key_source === 'file' || key_source === 'keyring') && (
        <Button disabled={busy} onClick={() => run(remove)}>
          {trans.__('Remove key')}
        </Button>
      )}
      {error !== null && <ErrorNote error={error} />}
    </div>
  );
}
