/** Available and preferred models, with their capabilities and prices. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { modelName } from '../../ui/modelLabels';
import { Badge } from '../../ui/primitives';
import { useTrans } from '../../ui/hooks';
import { formatPrice, formatTokens } from '../../text/numberFormat';
import { serverText } from '../../text/serverMessages';
import { visible } from '../../text/hiddenCharacters';
import type { ModelInfo, ModelList, Settings } from '../../wire/generated';
import { numberIn, SelectSetting, TextSetting } from '../components/fields';
import { Group, Loaded, problemText, Problems } from '../components/components';
import { useStore } from '../components/hooks';

const LONGEST_SECONDS = 3600;
const MOST_TOKENS = 1_000_000;

export function ModelsSection(): React.JSX.Element {
  const trans = useTrans();
  const { settings, models } = useStore();
  return (
    <>
      <Loaded resource={settings}>
        {value => <Preferences settings={value} />}
      </Loaded>
      <Group
        title={trans.__('Available models')}
        note={trans.__(
          'To add models and addresses by hand, edit .shoulders/models.json here or in your home directory.'
        )}
      >
        <Loaded resource={models}>{value => <Catalogue list={value} />}</Loaded>
      </Group>
    </>
  );
}

function Preferences(props: { settings: Settings }): React.JSX.Element {
  const trans = useTrans();
  const { settings } = props;
  const common = { settings, area: 'models' } as const;
  return (
    <Group title={trans.__('Model choice')}>
      <Problems problems={settings.problems.map(problemText)} />
      <SelectSetting
        {...common}
        name="mode"
        label={trans.__('Prefer')}
        options={[
          {
            value: 'auto',
            title: trans.__('Any available'),
            note: trans.__(
              'A model on this computer if one responds, otherwise a provider’s model.'
            )
          },
          {
            value: 'local',
            title: trans.__('Models on this computer'),
            note: trans.__('Your messages do not leave this computer.')
          },
          {
            value: 'remote',
            title: trans.__('Provider models'),
            note: trans.__('Your messages are sent to the provider.')
          }
        ]}
      />
      <NewConversations settings={settings} />
      <SelectSetting
        {...common}
        name="fallback"
        label={trans.__('If none of them can answer')}
        options={[
          { value: 'local', title: trans.__('Use a model on this computer') },
          { value: 'remote', title: trans.__('Use a provider’s model') },
          { value: 'none', title: trans.__('Stop with an error') }
        ]}
      />
      <TextSetting
        {...common}
        name="ollama_host"
        label={trans.__('Address of Ollama')}
        parse={text =>
          /^https?:\/\/[^\s/]+/.test(text.trim()) ? text.trim() : undefined
        }
        invalid={trans.__('An address begins with http:// or https://.')}
      />
      <TextSetting
        {...common}
        name="single_call_timeout_s"
        label={trans.__('Time limit for small tasks')}
        note={trans.__(
          'Titles, summaries and suggestions are abandoned after this time.'
        )}
        unit={trans.__('seconds')}
        parse={numberIn(0.1, LONGEST_SECONDS, false)}
        invalid={trans.__('A number up to %1.', LONGEST_SECONDS)}
      />
      <TextSetting
        {...common}
        name="single_call_max_tokens"
        label={trans.__('Answer limit for small tasks')}
        unit={trans.__('tokens')}
        parse={numberIn(1, MOST_TOKENS, true)}
        invalid={trans.__('A whole number from 1 to %1.', MOST_TOKENS)}
      />
      <SmallJobs />
    </Group>
  );
}

/** The model of new conversations. */
function NewConversations(props: { settings: Settings }): React.JSX.Element {
  const trans = useTrans();
  const { models } = useStore();
  const { settings } = props;
  const named = settings.values.models.default;
  return (
    <Loaded resource={models}>
      {list => (
        <SelectSetting
          settings={settings}
          area="models"
          name="default"
          label={trans.__('New conversations start with')}
          note={trans.__('If the preference above allows it.')}
          options={[
            { value: '', title: trans.__('The last model used') },
            ...list.models
              .filter(model => isOffered(model, named))
              .map(model => ({
                value: model.id,
                title: `${modelName(model)} · ${visible(model.provider_name)}`
              })),
            ...(list.models.some(({ id }) => id === named) || named === ''
              ? []
              : [
                  { value: named, title: trans.__('%1 (not available)', named) }
                ])
          ]}
        />
      )}
    </Loaded>
  );
}

/** The demo is used only when nothing else can answer. */
function isOffered({ id, provider, available }: ModelInfo, named: string) {
  return id === named || (available && provider !== 'demo');
}

/** The models for single calls outside conversations. */
function SmallJobs(): React.JSX.Element {
  const trans = useTrans();
  const { models } = useStore();
  const nameOf = (list: ModelList, id: string | null): string =>
    visible(list.models.find(model => model.id === id)?.name ?? id ?? '');
  return (
    <Loaded resource={models}>
      {list => (
        <dl className="shoulders-Facts">
          <dt>{trans.__('New conversations')}</dt>
          <dd>
            {nameOf(list, list.default) || trans.__('no model can answer')}
          </dd>
          {list.single_calls.map(({ purpose, model, reason }) => (
            <React.Fragment key={purpose}>
              <dt>
                {purpose === 'ghost'
                  ? trans.__('Suggestions while typing')
                  : trans.__('Titles and summaries')}
              </dt>
              <dd>
                {model === null
                  ? trans.__(
                      'none: %1',
                      visible(serverText(trans, reason ?? ''))
                    )
                  : nameOf(list, model)}
              </dd>
            </React.Fragment>
          ))}
        </dl>
      )}
    </Loaded>
  );
}

function Catalogue({ list }: { list: ModelList }): React.JSX.Element {
  const trans = useTrans();
  const [text, setText] = React.useState('');
  const words = text.toLowerCase().split(/\s+/);
  const found = list.models.filter(({ id, name, provider_name }) => {
    const all = `${id} ${name} ${provider_name}`.toLowerCase();
    return words.every(word => all.includes(word));
  });
  const first = [...found].sort(
    (a, b) => Number(b.available) - Number(a.available)
  );
  return (
    <>
      <Problems problems={list.problems.map(problemText)} />
      <input
        type="search"
        className="shoulders-Input shoulders-Settings-search"
        placeholder={trans.__('Find a model')}
        aria-label={trans.__('Find a model')}
        value={text}
        onChange={event => setText(event.target.value)}
      />
      <ul className="shoulders-Lines">
        {first.map(model => (
          <Model
            key={model.id}
            model={model}
            isDefault={model.id === list.default}
          />
        ))}
      </ul>
      {first.length === 0 && (
        <p className="shoulders-Settings-note">
          {trans.__('No matching models.')}
        </p>
      )}
    </>
  );
}

function Model(props: {
  model: ModelInfo;
  isDefault: boolean;
}): React.JSX.Element {
  const trans = useTrans();
  const { model, isDefault } = props;
  return (
    <li className="shoulders-Line">
      <div className="shoulders-Line-head">
        <span className="shoulders-Line-name">{modelName(model)}</span>
        <code>{visible(model.id)}</code>
        {isDefault && (
          <Badge kind="good">{trans.__('for new conversations')}</Badge>
        )}
        {!model.available && <Badge>{trans.__('not available')}</Badge>}
      </div>
      <div className="shoulders-Line-facts">{modelFacts(model, trans)}</div>
      {model.unavailable_reason !== null && (
        <div className="shoulders-Line-facts">
          {visible(serverText(trans, model.unavailable_reason))}
        </div>
      )}
    </li>
  );
}

function modelFacts(model: ModelInfo, trans: TranslationBundle): string {
  const { prices, context_window } = model;
  const price =
    prices.input === null || prices.output === null
      ? trans.__('price unknown')
      : prices.input + prices.output === 0
        ? trans.__('free')
        : trans.__(
            '%1 in, %2 out per million tokens',
            formatPrice(prices.input),
            formatPrice(prices.output)
          );
  return [
    visible(model.provider_name),
    context_window === null
      ? ''
      : trans.__('%1 context', formatTokens(context_window)),
    price,
    model.tools ? '' : trans.__('no tools: chat only'),
    model.images ? trans.__('reads images') : '',
    model.reasoning ? trans.__('reasoning') : ''
  ]
    .filter(fact => fact !== '')
    .join(' · ');
}
