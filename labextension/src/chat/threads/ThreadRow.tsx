/** One thread in the list. */

import * as React from 'react';

import { formatMoment } from '../../model/format';
import { visible } from '../../model/visible';
import type { Anchor, Session } from '../../wire/generated';
import { titleOf } from '../actions';
import { nameOf } from '../input/describe';
import { Menu, type IMenuItem } from '../Menu';
import { Rename } from '../Rename';
import { useHost, usePlace, useTrans } from '../use';
import { useActions } from '../usePanel';
import { Certainty } from './Certainty';
import { ThreadDot } from './ThreadDot';
import { useThreadPlace } from './useThreads';
import { iconOfPlace, nameOfPlace, quoteLine, quoteText } from './words';

export function ThreadRow(props: {
  session: Session;
  anchor: Anchor;
  /** The document stands in the heading. */
  isHere: boolean;
}): React.JSX.Element {
  const trans = useTrans();
  const actions = useActions();
  const { session, anchor, isHere } = props;
  const row = React.useRef<HTMLLIElement>(null);
  const [renaming, setRenaming] = React.useState(false);
  const isResolved = session.status === 'resolved';
  return (
    <li
      ref={row}
      className={`shoulders-ThreadRow ${isResolved ? 'shoulders-mod-resolved' : ''}`}
      onKeyDown={event => {
        if (event.target instanceof HTMLInputElement) {
          return; // The title is being changed.
        }
        if (event.key === 'F2') {
          setRenaming(true);
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
            requestAnimationFrame(() =>
              row.current?.querySelector('button')?.focus()
            );
          }}
        />
      ) : (
        <OpenButton session={session} anchor={anchor} isHere={isHere} />
      )}
      <Menu
        icon="more"
        label={trans.__('More about %1', titleOf(session, trans))}
        drop="down"
        className="shoulders-IconButton"
        items={useItems(session, () => setRenaming(true))}
      />
    </li>
  );
}

function OpenButton(props: {
  session: Session;
  anchor: Anchor;
  isHere: boolean;
}): React.JSX.Element {
  const trans = useTrans();
  const { conversations } = usePlace();
  const { session, anchor } = props;
  const title = titleOf(session, trans);
  return (
    <button
      type="button"
      className="shoulders-ThreadRow-open"
      title={title}
      aria-keyshortcuts="F2 Delete"
      onClick={() => conversations.open(session.id)}
    >
      <span className="shoulders-ThreadRow-line">
        <ThreadDot status={session.status} />
        <span className="shoulders-ThreadRow-title">{title}</span>
        <span className="shoulders-ThreadRow-quiet">
          {formatMoment(session.updated_at)}
        </span>
      </span>
      <Where session={session} anchor={anchor} isHere={props.isHere} />
    </button>
  );
}

/** Document, cell and quote. */
function Where(props: {
  session: Session;
  anchor: Anchor;
  isHere: boolean;
}): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  const place = useThreadPlace(props.session.id, props.anchor);
  const { anchor, number, line } = place;
  const where = nameOfPlace(anchor, number, line, trans);
  const quote = quoteLine(anchor);
  return (
    <span className="shoulders-ThreadRow-line shoulders-ThreadRow-quiet">
      <Icon name={iconOfPlace(anchor)} />
      {(!props.isHere || where === null) && (
        <span
          className="shoulders-ThreadRow-document"
          title={visible(anchor.document)}
        >
          {visible(nameOf(anchor.document))}
        </span>
      )}
      {where !== null && (
        <span className="shoulders-ThreadRow-where">{where}</span>
      )}
      {quote !== '' && (
        <q className="shoulders-Quote" title={visible(quoteText(anchor))}>
          {visible(quote)}
        </q>
      )}
      {props.session.status === 'resolved' ? (
        <span className="shoulders-ThreadTag shoulders-mod-resolved">
          {trans.__('Resolved')}
        </span>
      ) : (
        <Certainty certainty={anchor.certainty} />
      )}
    </span>
  );
}

/** What can be done with a thread. */
function useItems(session: Session, rename: () => void): readonly IMenuItem[] {
  const trans = useTrans();
  const actions = useActions();
  const isResolved = session.status === 'resolved';
  return [
    {
      key: 'reveal',
      title: trans.__('Go to its place'),
      act: () => void actions.reveal(session)
    },
    {
      key: 'resolve',
      title: isResolved ? trans.__('Reopen') : trans.__('Resolve'),
      act: () => void actions.resolve(session, !isResolved)
    },
    { key: 'rename', title: trans.__('Rename'), act: rename },
    {
      key: 'delete',
      title: trans.__('Delete'),
      danger: true,
      act: () => void actions.remove(session)
    }
  ];
}
