/** Search by meaning: the embedding model, how far the index is, and the consent to send texts to another machine. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { visible } from '../../text/hiddenCharacters';
import {
  formatMoney,
  formatTokens,
  groupDigits
} from '../../text/numberFormat';
import { serverText } from '../../text/serverMessages';
import { useAction, useTrans } from '../../ui/hooks';
import { Button, ErrorNote, Hint } from '../../ui/primitives';
import type {
  EmbeddingConsent,
  MeaningStatus,
  Settings
} from '../../wire/generated';
import { Group, Problems } from '../components/components';
import { describeSaveError, SwitchSetting } from '../components/fields';
import { useResource, useStore } from '../components/hooks';
import { useFocusAfter } from '../components/useFocusRecovery';
import { EmbedderSetting } from './EmbedderSetting';

export function SearchMeaning({
  settings
}: {
  settings: Settings;
}): React.JSX.Element {
  const trans = useTrans();
  const { searchIndex } = useStore();
  // Its error is shown with the index.
  const meaning = useResource(searchIndex).value?.meaning ?? null;
  const { by_meaning, embedder, send_to } = settings.values.search;
  const common = { settings, area: 'search' } as const;
  React.useEffect(
    () => void searchIndex.refresh(),
    [searchIndex, by_meaning, embedder, send_to]
  );
  return (
    <Group
      title={trans.__('Search by meaning')}
      note={trans.__(
        'An embedding model also finds places that say the same in other words.'
      )}
    >
      <SwitchSetting
        {...common}
        name="by_meaning"
        label={trans.__('Also search by meaning')}
      />
      {by_meaning && (
        <EmbedderSetting settings={settings} models={meaning?.models ?? null} />
      )}
      {by_meaning && meaning !== null && (
        <State
          meaning={meaning}
          isAsked={consentOf(meaning, send_to) !== null}
        />
      )}
      <Permission meaning={by_meaning ? meaning : null} settings={settings} />
    </Group>
  );
}

/** What is still to be allowed. The status follows a change of `send_to` a little later. */
function consentOf(
  meaning: MeaningStatus | null,
  sendTo: string
): EmbeddingConsent | null {
  const consent = meaning?.consent ?? null;
  return consent?.host === sendTo ? null : consent;
}

function State(props: {
  meaning: MeaningStatus;
  isAsked: boolean;
}): React.JSX.Element {
  const trans = useTrans();
  const { meaning, isAsked } = props;
  const { model } = meaning;
  const problem = meaning.problem ?? '';
  return (
    <>
      <p className="shoulders-Settings-note" role="status">
        {model === null ? (
          <Hint text={problem} />
        ) : (
          stateText(meaning, model, isAsked, trans)
        )}
      </p>
      {model !== null && problem !== '' && (
        <Problems problems={[serverText(trans, problem)]} />
      )}
    </>
  );
}

/** The state in one line; a problem is shown below it. */
function stateText(
  {
    cost_micro_usd: cost,
    host,
    is_local,
    missing,
    problem,
    store
  }: MeaningStatus,
  model: string,
  isAsked: boolean,
  trans: TranslationBundle
): string {
  const place = is_local ? trans.__('on this machine') : visible(host ?? '');
  const progress =
    missing > 0
      ? groupDigits(
          trans._n('%1 chunk left', '%1 chunks left', missing),
          missing
        )
      : problem === null
        ? trans.__('Ready')
        : '';
  return [
    visible(model),
    place,
    store === 'server' ? trans.__('Qdrant server') : '',
    isAsked ? trans.__('Not allowed yet') : progress,
    cost === null || cost === 0
      ? ''
      : trans.__('%1 this month', formatMoney(cost))
  ]
    .filter(part => part !== '')
    .join(' · ');
}

/** The consent to send texts to another machine: asked for, or given. */
function Permission(props: {
  meaning: MeaningStatus | null;
  settings: Settings;
}): React.JSX.Element {
  const { meaning, settings } = props;
  const { send_to } = settings.values.search;
  const consent = consentOf(meaning, send_to);
  const box = React.useRef<HTMLDivElement>(null);
  const button = (): HTMLElement | null | undefined =>
    box.current?.querySelector<HTMLElement>('button') ??
    box.current?.parentElement?.querySelector('input');
  useFocusAfter(send_to !== '', button);
  useFocusAfter(send_to === '', button);
  return (
    <div className="shoulders-Settings-permission" ref={box}>
      {consent !== null && (
        <ConsentCard consent={consent} settings={settings} />
      )}
      {send_to !== '' && <Sending meaning={meaning} settings={settings} />}
    </div>
  );
}

/** Asks before the first text is sent. */
function ConsentCard(props: {
  consent: EmbeddingConsent;
  settings: Settings;
}): React.JSX.Element {
  const trans = useTrans();
  const { consent, settings } = props;
  const { chunks, cost_micro_usd, host, model, tokens } = consent;
  const sending = useSending(settings);
  const price =
    cost_micro_usd === null
      ? trans.__('Price unknown.')
      : trans.__('Estimated cost: %1.', formatMoney(cost_micro_usd));
  return (
    <div className="shoulders-Card shoulders-Approval">
      <p>
        {groupDigits(
          trans._n(
            'Send %1 chunk (about %2 tokens) to %3 for %4.',
            'Send %1 chunks (about %2 tokens) to %3 for %4.',
            chunks,
            formatTokens(tokens),
            visible(host),
            visible(model)
          ),
          chunks
        )}{' '}
        {price}
      </p>
      <p>
        {trans.__(
          'Outputs, conversations, private cells and files with secrets are not sent.'
        )}
      </p>
      <div className="shoulders-Actions" aria-busy={sending.busy}>
        <Button kind="primary" onClick={() => sending.store(host)}>
          {trans.__('Allow')}
        </Button>
      </div>
      {sending.error}
    </div>
  );
}

/** The host that texts may be sent to. */
function Sending(props: {
  meaning: MeaningStatus | null;
  settings: Settings;
}): React.JSX.Element {
  const trans = useTrans();
  const { meaning, settings } = props;
  const { send_to } = settings.values.search;
  const sending = useSending(settings);
  const isUsed = meaning?.host === send_to && !meaning.is_local;
  return (
    <>
      <div className="shoulders-Settings-sending" aria-busy={sending.busy}>
        <span>
          {isUsed
            ? trans.__('Texts are sent to %1.', visible(send_to))
            : trans.__('Texts may be sent to %1.', visible(send_to))}
        </span>
        <Button onClick={() => sending.store('')}>
          {trans.__('Stop sending')}
        </Button>
      </div>
      {sending.error}
    </>
  );
}

/** Stores the host that texts may be sent to: for this folder only, since each folder has other texts. */
function useSending(settings: Settings): {
  busy: boolean;
  error: React.JSX.Element | null;
  store: (host: string) => void;
} {
  const trans = useTrans();
  const store = useStore();
  const { busy, error, runOnce } = useAction();
  const { send_to } = settings.values.search;
  return {
    busy,
    error: error && <ErrorNote error={describeSaveError(error, trans)} />,
    store: host =>
      runOnce(() =>
        store.putSetting('search', 'send_to', host, send_to, 'workspace')
      )
  };
}
