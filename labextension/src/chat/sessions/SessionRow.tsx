/** One conversation in a list: its button opens it, F2 renames, Delete deletes; it has a menu. */

import * as React from 'react';

import type { Session } from '../../wire/generated';
import { titleOf } from './panelActions';
import { focusNext } from '../../ui/focus';
import { Menu, type IMenuItem } from '../../ui/Menu';
import { TitleField } from './TitleField';
import { useTabContext, useTrans } from '../../ui/hooks';
import { useActions } from './usePanelActions';

/** The focusable element of each row. */
export const SESSION_BUTTON = '.shoulders-History-open';

export function SessionRow(props: {
  session: Session;
  className?: string;
  /** Menu items; `rename` starts editing the title. */
  items: (rename: () => void) => readonly IMenuItem[];
  /** The content of the row. */
  children: React.ReactNode;
}): React.JSX.Element {
  const trans = useTrans();
  const actions = useActions();
  const { conversations } = useTabContext();
  const { session, className = '', items, children } = props;
  const row = React.useRef<HTMLLIElement>(null);
  const [renaming, setRenaming] = React.useState(false);
  const rename = (): void => setRenaming(true);
  const title = titleOf(session, trans);
  return (
    <li
      ref={row}
      className={`shoulders-History-row ${className}`}
      onKeyDown={event => {
        if (event.target instanceof HTMLInputElement) {
          return; // The title is being edited.
        }
        if (event.key === 'F2') {
          rename();
        } else if (event.key === 'Delete') {
          void actions.remove(session);
        }
      }}
    >
      {renaming ? (
        <TitleField
          title={session.title}
          onDone={name => {
            setRenaming(false);
            void actions.rename(session, name);
            focusNext(
              () => row.current,
              place => place.querySelector(SESSION_BUTTON)
            );
          }}
        />
      ) : (
        <button
          type="button"
          className="shoulders-History-open"
          title={title}
          aria-keyshortcuts="F2 Delete"
          onClick={() => conversations.open(session.id)}
        >
          {children}
        </button>
      )}
      <Menu
        icon="more"
        label={trans.__('More actions for %1', title)}
        drop="down"
        className="shoulders-IconButton"
        items={items(rename)}
      />
    </li>
  );
}
