/** The header's menu: actions on the conversation, and the position of the panel. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { PanelLocation } from '../host/panelPlacement';
import { Menu, type IMenuItem } from '../ui/Menu';
import { sessionItems } from './sessions/menuItems';
import { useHost, useSignal, useTrans } from '../ui/hooks';
import { useActions } from './sessions/usePanelActions';

export function PanelMenu(): React.JSX.Element {
  const trans = useTrans();
  const actions = useActions();
  const { session } = actions;
  const places = usePlacementItems();
  const { openDatabase } = useHost();
  const more: IMenuItem[] =
    openDatabase === null
      ? []
      : [
          {
            key: 'database',
            title: trans.__('Agent’s database'),
            group: trans.__('Workspace'),
            act: openDatabase
          }
        ];
  const close: IMenuItem = {
    key: 'close',
    title: trans.__('Close tab'),
    act: () => actions.close()
  };
  const own =
    session === null
      ? [close]
      : [
          close,
          ...sessionItems(session, actions, trans, () => actions.beginRename())
        ];
  const group = trans.__('Conversation');
  return (
    <Menu
      icon="more"
      label={trans.__('More')}
      drop="down"
      className="shoulders-IconButton"
      items={[...own.map(item => ({ ...item, group })), ...more, ...places]}
    />
  );
}

function usePlacementItems(): IMenuItem[] {
  const trans = useTrans();
  const { dock } = useHost();
  const place = useSignal(dock.changed, () => dock.location);
  return dock.locations.map(each => ({
    key: each,
    title: placementName(each, trans),
    group: trans.__('Chat position'),
    checked: each === place,
    act: () => void dock.moveTo(each)
  }));
}

function placementName(place: PanelLocation, trans: TranslationBundle): string {
  switch (place) {
    case 'right':
      return trans.__('Right sidebar');
    case 'left':
      return trans.__('Left sidebar');
    case 'main':
      return trans.__('Tab in the main area');
    case 'bubble':
      return trans.__('Floating bubble');
  }
}
