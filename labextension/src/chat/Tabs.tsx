/**
 * The open conversations as tabs. Keys: arrows, Home and End select, Delete closes, F2 renames, Ctrl+Shift with an
 * arrow moves a tab; tabs can also be dragged. Closing a tab keeps the conversation.
 */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { ITab } from '../model/conversations/tabs';
import type { Session } from '../wire/generated';
import { titleOf } from './sessions/panelActions';
import { focusNext } from '../ui/focus';
import { Menu } from '../ui/Menu';
import { IconButton } from '../ui/primitives';
import { TitleField } from './sessions/TitleField';
import { StatusDot } from './sessions/StatusDot';
import { useHost, useTabContext, useTrans } from '../ui/hooks';
import { useActions, usePanelState } from './sessions/usePanelActions';
import { useTabDrag } from './useTabDrag';

/** Least width of a readable title, in px: of the active tab, and of others. */
const ACTIVE_PX = 120;
const TAB_PX = 88;

export function Tabs(): React.JSX.Element {
  const trans = useTrans();
  const actions = useActions();
  const { conversations } = useTabContext();
  const list = React.useRef<HTMLDivElement>(null);
  const { renaming } = usePanelState();
  const ref = React.useRef<HTMLDivElement>(null);
  const isNarrow = useIsNarrow(ref, conversations.tabs.length);
  const drag = useTabDrag(conversations);
  // The active tab may change until it is rendered.
  const focus = (): void =>
    focusNext(
      () => list.current,
      tabs => tabs.querySelector(`[id='${idOfTab(conversations.active.key)}']`)
    );
  return (
    <div
      ref={ref}
      className={`shoulders-TabBar ${isNarrow ? 'shoulders-mod-narrow' : ''}`}
    >
      <div
        ref={list}
        className="shoulders-Tabs"
        role="tablist"
        aria-label={trans.__('Open conversations')}
        {...drag}
        onKeyDown={event => {
          if (event.target instanceof HTMLInputElement) {
            return; // A title is being edited.
          }
          const act = keyAct(event, actions);
          if (act !== null) {
            event.preventDefault();
            act();
            focus();
          }
        }}
      >
        {conversations.tabs.map(tab => {
          const session = conversations.session(tab.key);
          return session !== null && renaming === session.id ? (
            <div
              key={tab.key}
              className="shoulders-Tab shoulders-mod-active shoulders-mod-selected"
            >
              <TitleField
                title={session.title}
                onDone={title => {
                  void actions.rename(session, title);
                  focus();
                }}
              />
            </div>
          ) : (
            <Tab key={tab.key} tab={tab} session={session} focus={focus} />
          );
        })}
      </div>
      {isNarrow && <AllTabs />}
    </div>
  );
}

/** The open conversations as a menu, when there is no room for tabs. */
function AllTabs(): React.JSX.Element {
  const trans = useTrans();
  const actions = useActions();
  const { conversations } = useTabContext();
  const { tabs, active } = conversations;
  const items = tabs.map(tab => ({
    key: tab.key,
    title: titleOfTab(tab, conversations.session(tab.key), trans),
    checked: tab.key === active.key,
    act: () => {
      conversations.activate(tab.key);
      actions.showList(null);
    }
  }));
  const count = tabs.length;
  return (
    <Menu
      icon="caret-down"
      label={trans._n('%1 open conversation', '%1 open conversations', count)}
      className="shoulders-IconButton"
      drop="down"
      items={items}
    />
  );
}

/** Whether the tabs are too narrow to be read. */
function useIsNarrow(
  place: React.RefObject<HTMLDivElement>,
  count: number
): boolean {
  const [width, setWidth] = React.useState(Infinity);
  React.useEffect(() => {
    const { current } = place;
    if (current === null || typeof ResizeObserver === 'undefined') {
      return;
    }
    const observer = new ResizeObserver(entries => {
      setWidth(entries[0]?.contentRect.width ?? Infinity);
    });
    observer.observe(current);
    return () => observer.disconnect();
  }, [place]);
  return count > 1 && width < ACTIVE_PX + (count - 1) * TAB_PX;
}

/** Actions of keys in the list of tabs. */
function keyAct(
  { key, ctrlKey, shiftKey }: React.KeyboardEvent,
  actions: ReturnType<typeof useActions>
): (() => void) | null {
  const { conversations } = actions;
  const { active, tabs } = conversations;
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (step !== undefined) {
    return ctrlKey && shiftKey
      ? () => conversations.shift(active.key, step)
      : () => actions.step(step);
  }
  const index = tabs.findIndex(tab => tab.key === active.key);
  switch (key) {
    case 'Home':
      return () => actions.step(-index);
    case 'End':
      return () => actions.step(tabs.length - 1 - index);
    case 'Delete':
      return () => actions.close();
    case 'F2':
      return () => actions.beginRename();
    default:
      return null;
  }
}

function Tab(props: {
  tab: ITab;
  session: Session | null;
  /** Return the focus to the list of tabs. */
  focus: () => void;
}): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  const actions = useActions();
  const { conversations } = useTabContext();
  const { list } = usePanelState();
  const { tab, session } = props;
  const close = (): void => {
    conversations.close(tab.key);
    props.focus();
  };
  const active = tab.key === conversations.active.key;
  const selected = active && list === null;
  const title = titleOfTab(tab, session, trans);
  const at = conversations.tabs.indexOf(tab);
  const isThread = conversations.anchor(tab.key) !== null;
  const element = useInView(selected);
  return (
    <div
      className={`shoulders-Tab ${active ? 'shoulders-mod-active' : ''} ${selected ? 'shoulders-mod-selected' : ''}`}
      onAuxClick={event => {
        if (event.button === 1) {
          close();
        }
      }}
    >
      <button
        ref={element}
        type="button"
        role="tab"
        id={idOfTab(tab.key)}
        className="shoulders-Tab-title"
        aria-selected={selected}
        aria-posinset={at + 1}
        aria-setsize={conversations.tabs.length}
        aria-controls={selected ? `shoulders-panel-${tab.key}` : undefined}
        aria-keyshortcuts="Delete F2"
        tabIndex={active ? 0 : -1}
        title={title}
        onDoubleClick={() => actions.beginRename()}
        onClick={() => {
          conversations.activate(tab.key);
          actions.showList(null);
        }}
      >
        {isThread && <Icon name="thread" />}
        {session !== null && <StatusDot status={session.status} />}
        <span>{title}</span>
      </button>
      <IconButton
        icon="close"
        className="shoulders-Tab-close"
        label={trans.__('Close %1', title)}
        pointerOnly
        onClick={close}
      />
    </div>
  );
}

function idOfTab(key: string): string {
  return `shoulders-tab-${key}`;
}

function titleOfTab(
  { sessionId, anchor }: ITab,
  session: Session | null,
  trans: TranslationBundle
): string {
  if (session === null && sessionId !== null) {
    return '…'; // Unknown until the log or the history is read.
  }
  return anchor === undefined
    ? titleOf(session, trans)
    : trans.__('New thread');
}

/** Scrolls the selected tab into view. */
function useInView(selected: boolean): React.RefObject<HTMLButtonElement> {
  const element = React.useRef<HTMLButtonElement>(null);
  React.useEffect(() => {
    if (selected) {
      element.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }
  }, [selected]);
  return element;
}
