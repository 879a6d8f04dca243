/** The panel's actions and state as hooks, for views outside the conversation: header, history, notices. */

import * as React from 'react';

import type { IPanelState } from '../../model/sessions/panelState';
import type { PanelActions } from './panelActions';
import { useSignal } from '../../ui/hooks';

export const ActionsContext = React.createContext<PanelActions | null>(null);

export function useActions(): PanelActions {
  const actions = React.useContext(ActionsContext);
  if (actions === null) {
    throw new Error('ActionsContext is missing above this view.');
  }
  return actions;
}

export function usePanelState(): IPanelState {
  const { view } = useActions();
  return useSignal(view.changed, () => view.state);
}
