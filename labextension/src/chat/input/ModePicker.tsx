/** Selects what the agent may do without asking. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { Mode } from '../../model/conversations/interface';
import { Menu } from '../../ui/Menu';
import { useTabContext, useTrans } from '../../ui/hooks';

const MODES: readonly Mode[] = ['ask', 'auto_edit', 'plan'];

export function ModePicker(): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
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
      return trans.__(
        'Reads and edits open notebooks; asks before anything else'
      );
    case 'auto_edit':
      return trans.__(
        'Makes any edit that can be undone; asks before running code'
      );
    case 'plan':
      return trans.__('Only reads');
    case 'bypass':
      return trans.__('Never asks');
  }
}
