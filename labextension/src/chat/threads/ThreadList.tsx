/** All threads: those of the document in front, of others, and the resolved ones. By keyboard as the history is. */

import * as React from 'react';

import {
  isWanted,
  listThreads,
  type IThread,
  type ThreadFilter
} from '../../model/thread-list';
import { visible } from '../../model/visible';
import { nameOf } from '../input/describe';
import { Button, ErrorNote } from '../parts';
import { moveRow, rowsIn } from '../rows';
import { focusField, usePlace, useTrans } from '../use';
import { useActions } from '../usePanel';
import { ThreadFilters } from './ThreadFilters';
import { ThreadRow } from './ThreadRow';
import { useHere, useThreads } from './useThreads';

const ROW = '.shoulders-ThreadRow-open';

export function ThreadList(): React.JSX.Element {
  const trans = useTrans();
  const actions = useActions();
  const { threads } = usePlace().conversations;
  const place = React.useRef<HTMLElement>(null);
  const here = useHere();
  const all = useThreads();
  const [text, setText] = React.useState('');
  const [filter, setFilter] = React.useState<ThreadFilter | null>(null);
  const wanted = all.filter(thread => isWanted(thread, text, filter));
  const list = listThreads(wanted, here);
  React.useEffect(() => {
    void threads.refresh(here);
  }, [threads, here]);
  return (
    <section
      ref={place}
      className="shoulders-History shoulders-ThreadList"
      aria-label={trans.__('Threads')}
      onKeyDown={event => {
        if (event.key === 'Escape' && !event.defaultPrevented) {
          event.preventDefault();
          actions.showList(null);
          focusField();
        } else if (moveRow(place.current, ROW, event)) {
          event.preventDefault();
        }
      }}
    >
      <ThreadFilters
        text={text}
        onText={setText}
        filter={filter}
        onFilter={setFilter}
        onDown={() => rowsIn(place.current, ROW)[0]?.focus()}
      />
      {threads.error !== null && <ErrorNote error={threads.error} />}
      <Group
        title={here === null ? '' : visible(nameOf(here))}
        threads={list.here}
        isHere
      />
      <Group
        title={
          here === null ? trans.__('Documents') : trans.__('Other documents')
        }
        threads={list.others}
      />
      <Group title={trans.__('Resolved')} threads={list.resolved} />
      {wanted.length === 0 && <Nothing narrowed={all.length > 0} />}
      {threads.hasMore && (
        <Button onClick={() => void threads.more()}>
          {trans.__('Show more')}
        </Button>
      )}
    </section>
  );
}

function Group(props: {
  title: string;
  threads: readonly IThread[];
  isHere?: boolean;
}): React.JSX.Element | null {
  const title = React.useId();
  return props.threads.length === 0 ? null : (
    <div className="shoulders-History-day">
      <h3 id={title}>
        {props.title}
        <span className="shoulders-ThreadList-count">
          {props.threads.length}
        </span>
      </h3>
      <ul aria-labelledby={title}>
        {props.threads.map(({ session, anchor }) => (
          <ThreadRow
            key={session.id}
            session={session}
            anchor={anchor}
            isHere={props.isHere ?? false}
          />
        ))}
      </ul>
    </div>
  );
}

/** Nothing to show, and how threads begin. */
function Nothing(props: { narrowed: boolean }): React.JSX.Element | null {
  const trans = useTrans();
  const { threads } = usePlace().conversations;
  if (!threads.isRead) {
    return null;
  }
  return (
    <p className="shoulders-History-none" role="status">
      {props.narrowed
        ? trans.__('No thread matches.')
        : trans.__(
            'No threads yet. Select text in a cell or a file and choose “Start an AI Thread Here” from its context menu.'
          )}
    </p>
  );
}
