/** Which model answers, and what it may do without asking. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { formatPrice, formatTokens } from '../model/format';
import type { Mode } from '../model/interface';
import type { ModelInfo } from '../wire/generated';
import { Menu, type IMenuItem } from './Menu';
import { usePlace, useTrans } from './use';

const MODES: readonly Mode[] = ['ask', 'auto_edit', 'plan'];

export function ModePicker(): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = usePlace();
  const current = conversations.mode(tab);
  const items = MODES.map(mode => ({
    key: mode,
    title: modeName(mode, trans),
    note: modeNote(mode, trans),
    checked: mode === current,
    act: () => conversations.setMode(tab, mode)
  }));
  return (
    <Menu
      className="shoulders-Picker"
      label={modeName(current, trans)}
      title={trans.__('What the agent may do without asking')}
      items={items}
    />
  );
}

export function ModelPicker(): React.JSX.Element | null {
  const trans = useTrans();
  const { conversations, tab } = usePlace();
  const models = conversations.models?.models ?? [];
  const current = conversations.model(tab);
  const chosen = models.find(model => model.id === current);
  if (models.length === 0) {
    return null;
  }
  return (
    <Menu
      className="shoulders-Picker"
      label={chosen === undefined ? trans.__('Choose a model') : named(chosen)}
      title={trans.__('Model')}
      items={models.map(model => ({
        ...itemOf(model, trans),
        checked: model.id === current,
        act: () => conversations.setModel(tab, model.id)
      }))}
    />
  );
}

function named({ name, label }: ModelInfo): string {
  return label ?? name;
}

function itemOf(
  model: ModelInfo,
  trans: TranslationBundle
): Omit<IMenuItem, 'act'> {
  const facts = [model.provider_name];
  if (model.context_window !== null) {
    facts.push(trans.__('%1 context', formatTokens(model.context_window)));
  }
  if (model.prices.input !== null && model.prices.output !== null) {
    const input = formatPrice(model.prices.input);
    const output = formatPrice(model.prices.output);
    facts.push(trans.__('%1 in, %2 out per M', input, output));
  }
  return {
    key: model.id,
    title: named(model),
    note: model.unavailable_reason ?? facts.join(' · '),
    disabled: !model.available
  };
}

function modeName(mode: Mode, trans: TranslationBundle): string {
  switch (mode) {
    case 'ask':
      return trans.__('Ask');
    case 'auto_edit':
      return trans.__('Auto-edit');
    case 'plan':
      return trans.__('Plan');
    case 'bypass':
      return trans.__('Bypass');
  }
}

function modeNote(mode: Mode, trans: TranslationBundle): string {
  switch (mode) {
    case 'ask':
      return trans.__('Reads and edits of open notebooks run; the rest asks');
    case 'auto_edit':
      return trans.__('Every undoable edit runs; running code asks');
    case 'plan':
      return trans.__('Only reads');
    case 'bypass':
      return trans.__('Nothing asks');
  }
}
