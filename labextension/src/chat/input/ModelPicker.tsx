/** Selects the model from a searchable list with context sizes and prices. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { agentChoices, type AgentChoice } from '../agents/agentChoices';
import { useAgents } from '../agents/useAgents';
import {
  isAgentModel,
  titleFromId
} from '../../model/view-models/externalAgents';
import { bestOf } from './suggestions/mentions';
import type {
  AgentInfo,
  AgentList,
  ModelInfo,
  ProviderHealth
} from '../../wire/generated';
import {
  focusComposer,
  useHost,
  useTabContext,
  useTrans
} from '../../ui/hooks';
import { keyNote, modelFacts, modelName } from '../../ui/modelLabels';
import { visible } from '../../text/hiddenCharacters';
import {
  moved,
  optionId,
  Listbox,
  type IListboxOption
} from './suggestions/Listbox';

/** A model, a provider without a key, or the line that expands those. */
type ModelOption = IListboxOption &
  (
    | { readonly kind: 'model'; readonly model: ModelInfo }
    | { readonly kind: 'fold' | 'key' }
  );

type PickerOption = ModelOption | AgentChoice;

export function ModelPicker(props: {
  open: boolean;
  setOpen: (open: boolean) => void;
}): React.JSX.Element | null {
  const { Icon } = useHost();
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { open, setOpen } = props;
  const models = conversations.models?.models ?? [];
  const current = conversations.model(tab);
  const list = useAgents(open || isAgentModel(current));
  const label = useLabel(current, models, list.agents);
  if (models.length === 0 && list.agents.length === 0) {
    return null;
  }
  return (
    <div
      className="shoulders-ModelPicker"
      onBlur={event => {
        if (!event.currentTarget.contains(event.relatedTarget)) {
          setOpen(false);
        }
      }}
    >
      <button
        type="button"
        className="shoulders-Picker shoulders-Menu-button"
        aria-haspopup="dialog"
        aria-expanded={open}
        title={
          isAgentModel(current)
            ? trans.__('Agent: %1', label)
            : trans.__('Model: %1', label)
        }
        onClick={() => setOpen(!open)}
      >
        <span className="shoulders-Menu-label">{label}</span>
        <Icon name="caret-down" />
      </button>
      {open && (
        <ModelList
          models={models}
          agents={list}
          current={current}
          onDone={() => {
            setOpen(false);
            focusComposer();
          }}
        />
      )}
    </div>
  );
}

/** The name of the chosen model or agent. */
function useLabel(
  current: string | null,
  models: readonly ModelInfo[],
  agents: readonly AgentInfo[]
): string {
  const trans = useTrans();
  if (current !== null && isAgentModel(current)) {
    const agent = agents.find(({ id }) => id === current);
    return visible(agent?.title ?? titleFromId(current));
  }
  const chosen = models.find(({ id }) => id === current);
  return chosen === undefined ? trans.__('Choose a model') : modelName(chosen);
}

function ModelList(props: {
  models: readonly ModelInfo[];
  agents: AgentList;
  current: string | null;
  onDone: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { models, agents, current, onDone } = props;
  const id = React.useId();
  const [query, setQuery] = React.useState('');
  const [unfolded, setUnfolded] = React.useState(false);
  const { openSettings } = useHost();
  const choices = useAgentChoices(agents, current, query);
  const options: readonly PickerOption[] = [
    ...useOptions(models, current, query, unfolded),
    ...choices.options
  ];
  const [active, setActive] = React.useState(() =>
    Math.max(
      0,
      options.findIndex(({ checked }) => checked)
    )
  );
  const pick = (option: PickerOption | undefined): void => {
    if (option === undefined || option.disabled === true) {
      return;
    }
    switch (option.kind) {
      case 'model':
        conversations.setModel(tab, option.model.id);
        onDone();
        break;
      case 'fold':
        setUnfolded(!unfolded);
        break;
      case 'key':
        onDone();
        openSettings?.('providers', true);
        break;
      case 'agent':
        conversations.setModel(tab, option.agent.id);
        onDone();
        break;
      case 'install':
        choices.copyInstall(option.agent);
        break;
      case 'fold-agents':
        choices.toggle();
        break;
      case 'agents-problem': // Cannot be picked.
    }
  };
  return (
    <div
      className="shoulders-Popover"
      role="dialog"
      aria-label={trans.__('Model')}
    >
      <input
        className="shoulders-Input shoulders-Popover-search"
        // The user opened it to choose.
        autoFocus
        role="combobox"
        aria-expanded={options.length > 0}
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={optionId(id, active)}
        aria-label={trans.__('Search models')}
        placeholder={trans.__('Search models')}
        value={query}
        onChange={event => {
          setQuery(event.target.value);
          setActive(0);
        }}
        onKeyDown={event => {
          const next = moved(event.key, active, options.length);
          if (next !== null) {
            setActive(next);
          } else if (event.key === 'Enter') {
            pick(options[active]);
          } else if (event.key === 'Escape') {
            onDone();
          } else {
            return;
          }
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      {options.length === 0 ? (
        <p className="shoulders-Popover-none">
          {trans.__('No matching models.')}
        </p>
      ) : (
        <Listbox
          id={id}
          label={trans.__('Models')}
          options={options}
          lines
          active={active}
          onPick={pick}
          onActive={setActive}
        />
      )}
    </div>
  );
}

/** The agents of others, and what their lines do. */
function useAgentChoices(
  list: AgentList,
  current: string | null,
  query: string
): {
  options: readonly AgentChoice[];
  toggle: () => void;
  copyInstall: (agent: AgentInfo) => void;
} {
  const { copy, trans } = useHost();
  const [unfolded, setUnfolded] = React.useState(false);
  const [copied, setCopied] = React.useState<string | null>(null);
  return {
    options: agentChoices({ list, current, query, unfolded, copied }, trans),
    toggle: () => setUnfolded(!unfolded),
    copyInstall: agent => {
      copy(agent.install ?? agent.command);
      setCopied(agent.id);
    }
  };
}

/** The available models, and the providers without a key, collapsed into one line. */
function useOptions(
  models: readonly ModelInfo[],
  current: string | null,
  query: string,
  unfolded: boolean
): ModelOption[] {
  const trans = useTrans();
  const { openSettings } = useHost();
  const { models: list } = useTabContext().conversations;
  const found = bestOf(query, models, model => [
    modelName(model),
    `${model.provider_name} ${model.id}`
  ]);
  const keyless = (list?.providers ?? []).filter(
    ({ id, state }) =>
      state === 'no_key' &&
      found.some(model => model.provider === id && !model.available)
  );
  const lacksKey = ({ available, provider }: ModelInfo): boolean =>
    !available && keyless.some(({ id }) => id === provider);
  const usable = found.filter(model => !lacksKey(model));
  const options = [
    ...usable.filter(({ available }) => available),
    ...usable.filter(({ available }) => !available)
  ].map(model => modelOption(model, current, trans));
  return [
    ...groupByProvider(options),
    ...keyOptions(keyless, unfolded, openSettings !== null, trans)
  ];
}

function modelOption(
  model: ModelInfo,
  current: string | null,
  trans: TranslationBundle
): ModelOption {
  return {
    kind: 'model',
    key: model.id,
    title: modelName(model),
    note: modelFacts(model, trans),
    group: model.provider_name,
    checked: model.id === current,
    disabled: !model.available,
    model
  };
}

/** Groups models by provider, in the order of first occurrence. */
function groupByProvider(options: readonly ModelOption[]): ModelOption[] {
  return [...new Set(options.map(({ group }) => group))].flatMap(name =>
    options.filter(({ group }) => group === name)
  );
}

/** A line for the providers without a key; expanded, one line each that opens the key form. */
function keyOptions(
  keyless: readonly ProviderHealth[],
  unfolded: boolean,
  canAdd: boolean,
  trans: TranslationBundle
): ModelOption[] {
  if (keyless.length === 0) {
    return [];
  }
  const fold: ModelOption = {
    kind: 'fold',
    key: 'providers-without-key',
    title: trans._n(
      '%1 more provider needs a key',
      '%1 more providers need a key',
      keyless.length
    ),
    note: '',
    icon: unfolded ? 'caret-down' : 'caret-right',
    group: ''
  };
  const each = keyless.map((provider): ModelOption => ({
    kind: 'key',
    key: `key:${provider.id}`,
    title: provider.name,
    note: canAdd ? trans.__('Add a key…') : keyNote(provider, trans),
    disabled: !canAdd,
    group: ''
  }));
  return unfolded ? [fold, ...each] : [fold];
}
