/** The open conversations as tabs, and the way to new and old ones, to what can be done with them, and to other places. */

import * as React from 'react';

import { Tabs } from './Tabs';
import { IconButton } from '../ui/primitives';
import { PanelMenu } from './PanelMenu';
import { useHost, useSignal, useTrans } from '../ui/hooks';
import { ThreadsButton } from './threads/ThreadsButton';
import { useActions, usePanelState } from './sessions/usePanelActions';

export function Header(): React.JSX.Element {
  const trans = useTrans();
  const actions = useActions();
  const { list } = usePanelState();
  return (
    <div className="shoulders-Header">
      <Tabs />
      <IconButton
        icon="add"
        label={trans.__('New conversation')}
        onClick={() => actions.create()}
      />
      <IconButton
        icon="history"
        label={trans.__('History')}
        pressed={list === 'history'}
        onClick={() => actions.toggleList('history')}
      />
      <ThreadsButton />
      <PanelMenu />
      <Minimise />
    </div>
  );
}

/** A bubble is closed here; side bars and tabs are closed by the lab. */
function Minimise(): React.JSX.Element | null {
  const trans = useTrans();
  const { dock } = useHost();
  const place = useSignal(dock.changed, () => dock.place);
  return place === 'bubble' ? (
    <IconButton
      icon="minimise"
      label={trans.__('Minimise')}
      onClick={() => dock.hide()}
    />
  ) : null;
}
