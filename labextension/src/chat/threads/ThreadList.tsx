/** All threads: those of the active document, of other documents, and resolved ones. */

import * as React from 'react';

import {
  matchesThread,
  listThreads,
  type IThreadListItem,
  type ThreadFilter,
  THREAD_FILTERS
} from '../../model/view-models/threadList';
import { visible } from '../../text/hiddenCharacters';
import { nameOf } from '../../ui/attachmentLabels';
import { SessionList, SearchField } from '../sessions/SessionList';
import { useTabContext, useTrans } from '../../ui/hooks';
import { ThreadRow } from './ThreadRow';
import { useActiveDocument, useThreads } from './useThreads';
import { FilterSelect } from '../../ui/FilterSelect';
import { nameOfFilter } from './labels';

export function ThreadList(): React.JSX.Element {
  const trans = useTrans();
  const { threads } = useTabContext().conversations;
  const here = useActiveDocument();
  const all = useThreads();
  const [text, setText] = React.useState('');
  const [filter, setFilter] = React.useState<ThreadFilter | null>(null);
  const wanted = all.filter(thread => matchesThread(thread, text, filter));
  const list = listThreads(wanted, here);
  React.useEffect(() => {
    void threads.refresh(here);
  }, [threads, here]);
  const none =
    all.length > 0
      ? trans.__('No matching threads.')
      : trans.__(
          'No threads yet. Select text in a cell or a file and choose “Start an AI Thread Here” from its context menu.'
        );
  return (
    <SessionList
      label={trans.__('Threads')}
      className="shoulders-ThreadList"
      store={threads}
      filters={
        <ThreadFilters
          text={text}
          onText={setText}
          filter={filter}
          onFilter={setFilter}
        />
      }
      none={wanted.length === 0 ? none : null}
    >
      <Group
        title={here === null ? '' : visible(nameOf(here))}
        threads={list.inActiveDocument}
        isHere
      />
      <Group
        title={
          here === null ? trans.__('Documents') : trans.__('Other documents')
        }
        threads={list.others}
      />
      <Group title={trans.__('Resolved')} threads={list.resolved} />
    </SessionList>
  );
}

function Group(props: {
  title: string;
  threads: readonly IThreadListItem[];
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
            isInActiveDocument={props.isHere ?? false}
          />
        ))}
      </ul>
    </div>
  );
}

function ThreadFilters(props: {
  text: string;
  onText: (text: string) => void;
  filter: ThreadFilter | null;
  onFilter: (filter: ThreadFilter | null) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { text, onText } = props;
  return (
    <>
      <SearchField
        label={trans.__('Search threads')}
        text={text}
        onText={onText}
      />
      <FilterSelect
        label={trans.__('Show')}
        any={trans.__('All threads')}
        value={props.filter}
        values={THREAD_FILTERS}
        nameOf={nameOfFilter}
        onChange={props.onFilter}
      />
    </>
  );
}
