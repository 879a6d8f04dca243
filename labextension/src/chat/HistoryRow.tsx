/** One conversation in the history. */

import * as React from 'react';

import { formatMoment } from '../model/format';
import type { Session } from '../wire/generated';
import { titleOf } from './actions';
import { focusNext } from './focus';
import { nameOfKind } from './kinds';
import { Menu } from './Menu';
import { Rename } from './Rename';
import { sessionItems } from './sessionItems';
import { StatusDot } from './StatusDot';
import { usePlace, useTrans } from './use';
import { useActions } from './usePanel';

export function HistoryRow({
  session
}: {
  session: Session;
}): React.JSX.Element {
  const trans = useTrans();
  const actions = useActions();
  const row = React.useRef<HTMLLIElement>(null);
  const [renaming, setRenaming] = React.useState(false);
  const rename = (): void => setRenaming(true);
  const title = titleOf(session, trans);
  const focusRow = (): void =>
    focusNext(
      () => row.current,
      place => place.querySelector('button')
    );
  return (
    <li
      ref={row}
      className="shoulders-History-row"
      onKeyDown={event => {
        if (event.target instanceof HTMLInputElement) {
          return; // The title is being changed.
        }
        if (event.key === 'F2') {
          rename();
        } else if (event.key === 'Delete') {
          void actions.remove(session);
        }
      }}
    >
      {renaming ? (
        <Rename
          title={session.title}
          onDone={name => {
            setRenaming(false);
            void actions.rename(session, name);
            focusRow();
          }}
        />
      ) : (
        <OpenButton session={session} title={title} />
      )}
      <Menu
        icon="more"
        label={trans.__('More about %1', title)}
        drop="down"
        className="shoulders-IconButton"
        items={sessionItems(session, actions, trans, rename)}
      />
    </li>
  );
}

function OpenButton(props: {
  session: Session;
  title: string;
}): React.JSX.Element {
  const trans = useTrans();
  const actions = useActions();
  const { conversations } = usePlace();
  const { session, title } = props;
  return (
    <button
      type="button"
      className="shoulders-History-open"
      title={title}
      aria-keyshortcuts="F2 Delete"
      onClick={() => {
        conversations.open(session.id);
        actions.showList(null);
      }}
    >
      <StatusDot status={session.status} />
      <span className="shoulders-History-title">{title}</span>
      {conversations.hasUnsent(session.id) && (
        <span className="shoulders-History-kind">{trans.__('Draft')}</span>
      )}
      {session.kind !== 'chat' && (
        <span className="shoulders-History-kind">
          {nameOfKind(session.kind, trans)}
        </span>
      )}
      <span className="shoulders-History-moment">
        {formatMoment(session.updated_at)}
      </span>
    </button>
  );
}
