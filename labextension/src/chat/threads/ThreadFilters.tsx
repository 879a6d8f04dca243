/** What the list of threads is narrowed to: words, and how threads stand. */

import * as React from 'react';

import {
  THREAD_FILTERS,
  type ThreadFilter
} from '../../model/view-models/threadList';
import { FilterSelect } from '../../ui/FilterSelect';
import { SearchField } from '../sessions/SessionList';
import { useTrans } from '../../ui/hooks';
import { nameOfFilter } from './labels';

export function ThreadFilters(props: {
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
