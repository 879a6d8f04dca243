/** Where the person is notified: the lab, the browser, a webhook; and whether the agent may. */

import * as React from 'react';

import { visible } from '../../text/hiddenCharacters';
import { serverText } from '../../text/serverMessages';
import { Badge, Button, ErrorNote } from '../../ui/primitives';
import { useAction, useTrans } from '../../ui/hooks';
import type { Settings, WebhookStatus } from '../../wire/generated';
import { Group, Loaded, problemText, Problems } from '../components/components';
import { TextLine } from '../components/FormLine';
import {
  Row,
  SaveOutcome,
  Source,
  Switch,
  SwitchSetting,
  TextSetting
} from '../components/fields';
import { useSetting, useSettingsPage, useStore } from '../components/hooks';

export function NotificationsSection(): React.JSX.Element {
  const trans = useTrans();
  const { settings, notifications } = useStore();
  const { busy, error, run } = useAction();
  return (
    <>
      <p className="shoulders-Settings-note">
        {trans.__(
          'Runs that end and conversations that wait for you show a message in JupyterLab. Messages you missed appear when you return.'
        )}
      </p>
      <Loaded resource={settings}>
        {value => (
          <>
            <Problems problems={value.problems.map(problemText)} />
            <Group title={trans.__('On this computer')}>
              <BrowserSetting settings={value} />
              <SwitchSetting
                settings={value}
                area="notifications"
                name="agent"
                label={trans.__('Let the agent notify me')}
                note={trans.__('At most six times an hour.')}
              />
            </Group>
            <Webhook settings={value} />
          </>
        )}
      </Loaded>
      <div className="shoulders-Actions">
        <Button disabled={busy} onClick={() => run(() => notifications.test())}>
          {trans.__('Send a test notification')}
        </Button>
      </div>
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}

/** Notifications of the browser; its permission is asked for on this click only. */
function BrowserSetting(props: { settings: Settings }): React.JSX.Element {
  const trans = useTrans();
  const setting = useSetting(props.settings, 'notifications', 'browser');
  const [refused, setRefused] = React.useState(
    !('Notification' in window) || Notification.permission === 'denied'
  );
  const choose = (on: boolean): void => {
    if (!on) {
      setting.choose(false);
      return;
    }
    Notification.requestPermission()
      .then(permission => {
        setRefused(permission === 'denied');
        if (permission === 'granted') {
          setting.choose(true);
        }
      })
      .catch(() => setRefused(true));
  };
  return (
    <Row
      label={trans.__('Notifications of the browser')}
      note={
        refused
          ? trans.__(
              'The browser blocks them for this page. Allow them in its settings.'
            )
          : trans.__('While this page is hidden. The browser asks you once.')
      }
      control={(id, describedBy) => (
        <Switch
          id={id}
          describedBy={describedBy}
          on={setting.value === true}
          disabled={
            setting.busy ||
            setting.lock !== null ||
            (refused && setting.value !== true)
          }
          onChange={choose}
        />
      )}
    >
      <Source setting={setting} />
      <SaveOutcome
        field={setting}
        stored={setting.stored === true ? trans.__('on') : trans.__('off')}
        explicit={false}
      />
    </Row>
  );
}

/** An address, in no language. */
const EXAMPLE = 'https://hooks.example.org/…';
const ADDRESS = /^https?:\/\/[^\s/@]+(\/\S*)?$/;

function Webhook(props: { settings: Settings }): React.JSX.Element {
  const trans = useTrans();
  const { notifications } = useStore();
  return (
    <Group
      title={trans.__('Webhook')}
      note={trans.__(
        'Sends each notification as signed JSON to an address of yours, for example a chat or phone service. Title and message leave this computer.'
      )}
    >
      <TextSetting
        settings={props.settings}
        area="notifications"
        name="webhook"
        label={trans.__('Address')}
        placeholder={EXAMPLE}
        parse={text => {
          const given = text.trim();
          return given === '' || ADDRESS.test(given) ? given : undefined;
        }}
        invalid={trans.__('Enter an address that starts with https://.')}
      />
      <Loaded resource={notifications.webhook}>
        {status => (
          <>
            <Secret status={status} />
            <State status={status} />
          </>
        )}
      </Loaded>
    </Group>
  );
}

/** The secret, entered or made here; a new one is shown once. */
function Secret(props: { status: WebhookStatus }): React.JSX.Element {
  const trans = useTrans();
  const { copy } = useSettingsPage().host;
  const { notifications } = useStore();
  const { busy, error, run } = useAction();
  const [text, setText] = React.useState('');
  const [made, setMade] = React.useState('');
  const { has_secret, secret_last4 } = props.status;
  const generate = async (): Promise<void> => {
    const bytes = crypto.getRandomValues(new Uint8Array(32));
    const secret = [...bytes]
      .map(byte => byte.toString(16).padStart(2, '0'))
      .join('');
    await notifications.setSecret(secret);
    setMade(secret);
  };
  const save = async (): Promise<void> => {
    await notifications.setSecret(text);
    setText('');
    setMade('');
  };
  return (
    <>
      <TextLine
        label={trans.__('Secret that signs each message')}
        secret
        placeholder={
          has_secret
            ? trans.__('Set, ends in %1', secret_last4 ?? '…')
            : trans.__('Not set; nothing is sent without one')
        }
        value={text}
        onChange={setText}
      />
      <div className="shoulders-Actions">
        {text !== '' && (
          <Button kind="primary" disabled={busy} onClick={() => run(save)}>
            {trans.__('Save')}
          </Button>
        )}
        <Button disabled={busy} onClick={() => run(generate)}>
          {has_secret
            ? trans.__('Replace with a new secret')
            : trans.__('Make a secret')}
        </Button>
        {has_secret && (
          <Button
            disabled={busy}
            onClick={() => run(() => notifications.setSecret(null))}
          >
            {trans.__('Remove')}
          </Button>
        )}
      </div>
      {made !== '' && (
        <p className="shoulders-Settings-note" role="status">
          {trans.__('Give this to the receiver; it is not shown again:')}{' '}
          <code className="shoulders-Notifications-secret">{made}</code>{' '}
          <button
            type="button"
            className="shoulders-Link"
            onClick={() => copy(made)}
          >
            {trans.__('Copy')}
          </button>
        </p>
      )}
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}

/** What waits, failed, and why. */
function State(props: { status: WebhookStatus }): React.JSX.Element | null {
  const trans = useTrans();
  const { host, has_secret, queued, failed, last_error } = props.status;
  if (host === null) {
    return null;
  }
  return (
    <div role="status">
      <Badge
        kind={last_error !== null ? 'bad' : has_secret ? 'good' : 'warning'}
      >
        {last_error !== null
          ? trans.__('Not reached')
          : has_secret
            ? trans.__('Ready')
            : trans.__('No secret')}
      </Badge>{' '}
      <span className="shoulders-Settings-note">
        {[
          visible(host),
          queued > 0
            ? trans._n('%1 message waits', '%1 messages wait', queued)
            : '',
          failed > 0
            ? trans._n('%1 message given up', '%1 messages given up', failed)
            : '',
          last_error === null ? '' : visible(serverText(trans, last_error))
        ]
          .filter(part => part !== '')
          .join(' · ')}
      </span>
    </div>
  );
}
