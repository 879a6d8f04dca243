/** Which model answers: a list with contexts and prices, searched by typing. */

import * as React from 'react';

import { bestOf } from '../../model/mentions';
import type { ModelInfo } from '../../wire/generated';
import { focusField, useHost, usePlace, useTrans } from '../use';
import { modelFacts, modelName, modelNote } from './modelFacts';
import { moved, optionId, Options, type IOption } from './Options';

interface IModelOption extends IOption {
  readonly model: ModelInfo;
}

export function ModelPicker(props: {
  open: boolean;
  setOpen: (open: boolean) => void;
}): React.JSX.Element | null {
  const { Icon } = useHost();
  const trans = useTrans();
  const { conversations, tab } = usePlace();
  const { open, setOpen } = props;
  const models = conversations.models?.models ?? [];
  const current = conversations.model(tab);
  const chosen = models.find(({ id }) => id === current);
  if (models.length === 0) {
    return null;
  }
  const label =
    chosen === undefined ? trans.__('Choose a model') : modelName(chosen);
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
        title={trans.__('Model: %1', label)}
        onClick={() => setOpen(!open)}
      >
        <span className="shoulders-Menu-label">{label}</span>
        <Icon name="caret-down" />
      </button>
      {open && (
        <ModelList
          models={models}
          current={current}
          onDone={() => {
            setOpen(false);
            focusField();
          }}
        />
      )}
    </div>
  );
}

function ModelList(props: {
  models: readonly ModelInfo[];
  current: string | null;
  onDone: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = usePlace();
  const { models, current, onDone } = props;
  const id = React.useId();
  const [query, setQuery] = React.useState('');
  const options = useOptions(models, current, query);
  const [active, setActive] = React.useState(() =>
    Math.max(
      0,
      options.findIndex(({ checked }) => checked)
    )
  );
  const pick = (option: IModelOption | undefined): void => {
    if (option?.model.available === true) {
      conversations.setModel(tab, option.model.id);
      onDone();
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
        // It was opened to choose.
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
          {trans.__('No model is called so.')}
        </p>
      ) : (
        <Options
          id={id}
          label={trans.__('Models')}
          options={options}
          active={active}
          onPick={pick}
          onActive={setActive}
        />
      )}
    </div>
  );
}

/** The models that match, those of a provider together, those that can be used first. */
function useOptions(
  models: readonly ModelInfo[],
  current: string | null,
  query: string
): IModelOption[] {
  const trans = useTrans();
  const { models: list } = usePlace().conversations;
  const health = list?.providers ?? [];
  const found = bestOf(query, models, model => [
    modelName(model),
    `${model.provider_name} ${model.id}`
  ]);
  const best = [
    ...found.filter(({ available }) => available),
    ...found.filter(({ available }) => !available)
  ];
  const providers = new Set(best.map(model => model.provider_name));
  return [...providers]
    .flatMap(name => best.filter(model => model.provider_name === name))
    .map(model => ({
      key: model.id,
      title: modelName(model),
      note: modelNote(model, health, trans),
      hint: modelFacts(model, trans),
      group: model.provider_name,
      checked: model.id === current,
      disabled: !model.available,
      model
    }));
}
