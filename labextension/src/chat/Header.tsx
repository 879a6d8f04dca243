/** The header: tabs, new conversation, history, threads and the menu. */

import * as React from 'react';

import { Tabs } from './Tabs';
import { IconButton } from '../ui/primitives';
import { PanelMenu } from './PanelMenu';
import { useHost, useSignal, useTrans } from '../ui/hooks';
import { useActions, usePanelState } from './sessions/usePanelActions';
import { useThreadCount } from './threads/useThreads';

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

/** Only the bubble needs this button; JupyterLab closes side bars and tabs. */
function Minimise(): React.JSX.Element | null {
  const trans = useTrans();
  const { dock } = useHost();
  const place = useSignal(dock.changed, () => dock.location);
  return place === 'bubble' ? (
    <IconButton
      icon="minimise"
      label={trans.__('Minimise')}
      onClick={() => dock.hide()}
    />
  ) : null;
}

/** Larger counts are shown as `99+`. */
const MOST = 99;

function ThreadsButton(): React.JSX.Element {
  const trans = useTrans();
  const actions = useActions();
  const { list } = usePanelState();
  const count = useThreadCount();
  return (
    <span className="shoulders-ThreadsButton">
      <IconButton
        icon="thread"
        label={
          count === 0
            ? trans.__('Threads')
            : trans._n(
                'Threads (%1 in this document)',
                'Threads (%1 in this document)',
                count
              )
        }
        pressed={list === 'threads'}
        onClick={() => actions.toggleList('threads')}
      />
      {count > 0 && (
        <span className="shoulders-ThreadsButton-count" aria-hidden="true">
          {count > MOST ? `${MOST}+` : count}
        </span>
      )}
    </span>
  );
}
