/** The open conversations as tabs, and the way to new and old ones. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { ITab } from '../model/tabs';
import type { Session } from '../wire/generated';
import { IconButton } from './parts';
import { usePlace, useTrans } from './use';

export function Header(props: {
  showsHistory: boolean;
  onHistory: (show: boolean) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { conversations } = usePlace();
  const { showsHistory, onHistory } = props;
  return (
    <div className="shoulders-Header">
      <div
        className="shoulders-Tabs"
        role="tablist"
        aria-label={trans.__('Open conversations')}
        onKeyDown={event => {
          const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          if (by !== undefined) {
            event.preventDefault();
            conversations.step(by);
            onHistory(false);
          }
        }}
      >
        {conversations.tabs.map(tab => (
          <TabButton
            key={tab.key}
            tab={tab}
            selected={!showsHistory && tab.key === conversations.active.key}
            onSelect={() => {
              conversations.activate(tab.key);
              onHistory(false);
            }}
          />
        ))}
      </div>
      <IconButton
        icon="add"
        label={trans.__('New conversation')}
        onClick={() => {
          conversations.create();
          onHistory(false);
        }}
      />
      <IconButton
        icon="history"
        label={trans.__('History')}
        pressed={showsHistory}
        onClick={() => onHistory(!showsHistory)}
      />
    </div>
  );
}

function TabButton(props: {
  tab: ITab;
  selected: boolean;
  onSelect: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { conversations } = usePlace();
  const { tab, selected } = props;
  const session = conversations.session(tab.key);
  // Until the log or the history is read, a session's title is not known.
  const title =
    session === null && tab.sessionId !== null ? '…' : titleOf(session, trans);
  const element = React.useRef<HTMLButtonElement>(null);
  React.useEffect(() => {
    if (selected) {
      element.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }
  }, [selected]);
  return (
    <div
      className={`shoulders-Tab ${selected ? 'shoulders-mod-selected' : ''}`}
    >
      <button
        ref={element}
        type="button"
        role="tab"
        className="shoulders-Tab-title"
        aria-selected={selected}
        tabIndex={selected ? 0 : -1}
        title={title}
        onClick={props.onSelect}
      >
        {session !== null && <StatusDot status={session.status} />}
        <span>{title}</span>
      </button>
      <IconButton
        icon="close"
        label={trans.__('Close %1', title)}
        onClick={() => conversations.close(tab.key)}
      />
    </div>
  );
}

/** A conversation's title; one without a message has none yet. */
export function titleOf(
  session: Session | null,
  trans: TranslationBundle
): string {
  return session === null || session.title === ''
    ? trans.__('New conversation')
    : session.title;
}

/** Something is going on in a conversation. */
export function StatusDot(props: {
  status: Session['status'];
}): React.JSX.Element | null {
  const trans = useTrans();
  switch (props.status) {
    case 'running':
      return <span className="shoulders-Pulse" title={trans.__('Working')} />;
    case 'waiting':
      return (
        <span
          className="shoulders-Dot shoulders-mod-waiting"
          title={trans.__('Waits for you')}
        />
      );
    case 'error':
    case 'interrupted':
      return (
        <span
          className="shoulders-Dot shoulders-mod-error"
          title={trans.__('Stopped')}
        />
      );
    case 'idle':
    case 'resolved':
      return null;
  }
}
