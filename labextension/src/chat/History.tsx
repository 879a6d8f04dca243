/** All conversations, to find, open, rename and delete. */

import * as React from 'react';

import { formatMoment } from '../model/format';
import type { Session } from '../wire/generated';
import { StatusDot, titleOf } from './Header';
import { Button, ErrorNote, IconButton } from './parts';
import { useAction, useHost, usePlace, useTrans } from './use';

/** Pause in typing before a search, in ms. */
const SEARCH_DELAY = 200;

export function History(props: { onOpen: () => void }): React.JSX.Element {
  const trans = useTrans();
  const { conversations } = usePlace();
  const { history } = conversations;
  const [text, setText] = React.useState('');
  React.useEffect(() => {
    const timer = setTimeout(() => void history.find({ text }), SEARCH_DELAY);
    return () => clearTimeout(timer);
  }, [history, text]);
  const open = (session: Session): void => {
    conversations.open(session.id);
    props.onOpen();
  };
  return (
    <div className="shoulders-History">
      <input
        className="shoulders-Input"
        type="search"
        // The list is opened to look for something.
        autoFocus
        value={text}
        placeholder={trans.__('Search conversations')}
        aria-label={trans.__('Search conversations')}
        onChange={event => setText(event.target.value)}
      />
      {history.error !== null && <ErrorNote error={history.error} />}
      <ul className="shoulders-History-list">
        {history.found.map(session => (
          <Row
            key={session.id}
            session={session}
            onOpen={() => open(session)}
          />
        ))}
      </ul>
      {history.found.length === 0 && (
        <p className="shoulders-History-none">{trans.__('No conversations')}</p>
      )}
      {history.hasMore && (
        <Button onClick={() => void history.more()}>
          {trans.__('Show more')}
        </Button>
      )}
    </div>
  );
}

function Row(props: {
  session: Session;
  onOpen: () => void;
}): React.JSX.Element {
  const { confirm } = useHost();
  const trans = useTrans();
  const { conversations } = usePlace();
  const { busy, error, run } = useAction();
  const [renaming, setRenaming] = React.useState(false);
  const { session } = props;
  const title = titleOf(session, trans);
  const remove = async (): Promise<void> => {
    const sure = await confirm(
      trans.__('Delete this conversation?'),
      title,
      trans.__('Delete')
    );
    if (sure) {
      await conversations.remove(session.id);
    }
  };
  return (
    <li className="shoulders-History-row">
      {renaming ? (
        <Rename
          title={title}
          onDone={name => {
            setRenaming(false);
            if (name !== '' && name !== title) {
              run(() => conversations.rename(session.id, name));
            }
          }}
        />
      ) : (
        <button
          type="button"
          className="shoulders-History-open"
          onClick={props.onOpen}
        >
          <StatusDot status={session.status} />
          <span className="shoulders-History-title">{title}</span>
          <span className="shoulders-History-moment">
            {formatMoment(session.updated_at)}
          </span>
        </button>
      )}
      <IconButton
        icon="pencil"
        label={trans.__('Rename')}
        disabled={busy}
        onClick={() => setRenaming(true)}
      />
      <IconButton
        icon="delete"
        label={trans.__('Delete')}
        disabled={busy}
        onClick={() => run(remove)}
      />
      {error !== null && <ErrorNote error={error} />}
    </li>
  );
}

function Rename(props: {
  title: string;
  onDone: (title: string) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const [title, setTitle] = React.useState(props.title);
  return (
    <input
      className="shoulders-Input"
      // The user has just asked for this field.
      autoFocus
      value={title}
      aria-label={trans.__('Title')}
      onFocus={event => event.target.select()}
      onChange={event => setTitle(event.target.value)}
      onBlur={() => props.onDone(title.trim())}
      onKeyDown={event => {
        if (event.key === 'Enter') {
          props.onDone(title.trim());
        } else if (event.key === 'Escape') {
          event.stopPropagation();
          props.onDone(props.title);
        }
      }}
    />
  );
}
