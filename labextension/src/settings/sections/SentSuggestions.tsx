/** What models were sent for the latest suggestions. Part of the suggestions section. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { RequestBody } from '../../ui/viewers/RequestBody';
import { Button, Disclosure } from '../../ui/primitives';
import { useTrans } from '../../ui/hooks';
import { formatMoment } from '../../text/numberFormat';
import { visible } from '../../text/hiddenCharacters';
import type { SentCompletion } from '../../wire/generated';
import { Group, Loaded } from '../components/components';
import { useStore } from '../components/hooks';

export function SentSuggestions(): React.JSX.Element {
  const trans = useTrans();
  const { sent } = useStore();
  React.useEffect(() => void sent.refresh(), [sent]);
  return (
    <Group
      title={trans.__('Sent requests')}
      note={trans.__(
        'The latest requests for suggestions since the server started, newest first. Keys are removed.'
      )}
    >
      <Loaded resource={sent}>
        {({ requests }) => <Requests requests={requests} />}
      </Loaded>
      <div className="shoulders-Actions">
        <Button onClick={() => void sent.refresh()}>
          {trans.__('Refresh')}
        </Button>
      </div>
    </Group>
  );
}

function Requests(props: {
  requests: readonly SentCompletion[];
}): React.JSX.Element {
  const trans = useTrans();
  return props.requests.length === 0 ? (
    <p className="shoulders-Settings-note">{trans.__('Nothing was sent.')}</p>
  ) : (
    <ul className="shoulders-Lines">
      {props.requests.map(request => (
        <li
          key={`${request.at} ${request.request_id}`}
          className="shoulders-Line"
        >
          <Request request={request} />
        </li>
      ))}
    </ul>
  );
}

function Request({ request }: { request: SentCompletion }): React.JSX.Element {
  const trans = useTrans();
  const { path, model, at, calls, trigger } = request;
  const facts = [
    model,
    triggerText(trigger, trans),
    calls === 1 ? '' : trans.__('%1 times', calls)
  ];
  return (
    <Disclosure
      className="shoulders-Request-piece"
      summary={
        <>
          <span className="shoulders-Request-name">{visible(path)}</span>
          <span className="shoulders-Request-glance">
            {visible(facts.filter(Boolean).join(' · '))}
          </span>
          <time className="shoulders-Request-size" dateTime={at}>
            {formatMoment(at)}
          </time>
        </>
      }
    >
      {() => (
        <RequestBody request={request} more={optionalParts(request, trans)} />
      )}
    </Disclosure>
  );
}

function triggerText(
  trigger: SentCompletion['trigger'],
  trans: TranslationBundle
): string {
  switch (trigger) {
    case 'plus':
      return trans.__('requested with ++');
    case 'invoke':
      return trans.__('requested with a command');
    case 'automatic':
      return trans.__('while you typed');
    default:
      return trigger satisfies never;
  }
}

/** Data that only some models are sent. */
function optionalParts(
  { suffix, response_schema: form }: SentCompletion,
  trans: TranslationBundle
): { name: string; text: string }[] {
  return [
    ...(suffix === null
      ? []
      : [{ name: trans.__('Text after the cursor'), text: suffix }]),
    ...(form === null
      ? []
      : [
          {
            name: trans.__('Answer format'),
            text: JSON.stringify(form, null, 2)
          }
        ])
  ];
}
