/** Three ways to set up a model. */

import * as React from 'react';

import type { ModelInfo, ProviderHealth } from '../../wire/generated';
import { ProviderKeyForm } from './ProviderKeyForm';
import { modelName } from '../../ui/modelLabels';
import { Button, Disclosure, ErrorNote } from '../../ui/primitives';
import {
  focusComposer,
  useAction,
  useTabContext,
  useTrans
} from '../../ui/hooks';

/** Most local models offered. */
const OFFERED = 4;

/** Downloads a model that supports tools. */
const PULL = 'ollama pull qwen3';

/** Ways to set up a model; `quiet` while the demo answers. */
export function ModelSetup({ quiet }: { quiet?: boolean }): React.JSX.Element {
  const trans = useTrans();
  return quiet === true ? (
    <Disclosure
      className="shoulders-Setup"
      summary={trans.__('This is the demo. Connect a real model…')}
    >
      {() => <SetupOptions />}
    </Disclosure>
  ) : (
    <div className="shoulders-Setup">
      <SetupOptions />
    </div>
  );
}

function SetupOptions(): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { models = [], providers = [] } = conversations.models ?? {};
  const keyed = providers.filter(({ needs_key }) => needs_key);
  const use = (model: ModelInfo): void => {
    conversations.setModel(tab, model.id);
    focusComposer();
  };
  const demo = models.find(
    ({ provider, available }) => provider === 'demo' && available
  );
  return (
    <>
      {demo !== undefined && (
        <SetupOption title={trans.__('Try the demo')}>
          <p>
            {trans.__(
              'Works offline and free of charge, with a few scripted answers.'
            )}
          </p>
          <Button onClick={() => use(demo)}>{trans.__('Use the demo')}</Button>
        </SetupOption>
      )}
      <SetupOption title={trans.__('Run a model on this computer')}>
        <Local models={models} providers={providers} onUse={use} />
      </SetupOption>
      {keyed.length > 0 && (
        <SetupOption title={trans.__('Use a provider’s key')}>
          <ProviderKeyForm providers={keyed} />
        </SetupOption>
      )}
    </>
  );
}

function SetupOption(props: {
  title: string;
  children: React.ReactNode;
}): React.JSX.Element {
  return (
    <section className="shoulders-SetupOption">
      <h3>{props.title}</h3>
      {props.children}
    </section>
  );
}

/** The models Ollama has, or how to get one. */
function Local(props: {
  models: readonly ModelInfo[];
  providers: readonly ProviderHealth[];
  onUse: (model: ModelInfo) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { conversations } = useTabContext();
  const { busy, error, run } = useAction();
  const ollama = new Set(
    props.providers.filter(({ kind }) => kind === 'ollama').map(({ id }) => id)
  );
  const isLocal = props.providers.every(
    ({ id, local }) => local || !ollama.has(id)
  );
  const here = props.models.filter(
    ({ provider, available }) => ollama.has(provider) && available
  );
  if (here.length > 0) {
    return (
      <>
        <p>
          {isLocal
            ? trans.__(
                'Models installed in Ollama. Nothing leaves this computer.'
              )
            : trans.__('Models installed in Ollama on another computer.')}
        </p>
        <div className="shoulders-Actions">
          {here.slice(0, OFFERED).map(model => (
            <Button key={model.id} onClick={() => props.onUse(model)}>
              {trans.__('Use %1', modelName(model))}
            </Button>
          ))}
        </div>
      </>
    );
  }
  return (
    <>
      <p>
        {trans.__(
          'Start Ollama and pull a model; it appears here within a minute. Nothing leaves this computer.'
        )}
      </p>
      <pre className="shoulders-SetupOption-command" tabIndex={0}>
        {PULL}
      </pre>
      <Button
        disabled={busy}
        onClick={() => run(() => conversations.refresh())}
      >
        {trans.__('Refresh')}
      </Button>
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}
