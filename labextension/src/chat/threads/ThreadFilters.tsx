/** What the list of threads is narrowed to: words, and how threads stand. */

import * as React from 'react';

import { THREAD_FILTERS, type ThreadFilter } from '../../model/thread-list';
import { Choice } from '../Choice';
import { useTrans } from '../use';
import { nameOfFilter } from './words';

export function ThreadFilters(props: {
  text: string;
  onText: (text: string) => void;
  filter: ThreadFilter | null;
  onFilter: (filter: ThreadFilter | null) => void;
  onDown: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { text, onText, onDown } = props;
  return (
    <div className="shoulders-History-filters" role="search">
      <input
        className="shoulders-Input"
        type="search"
        // The list is opened to look for something.
        autoFocus
        value={text}
        placeholder={trans.__('Search threads')}
        aria-label={trans.__('Search threads')}
        onChange={event => onText(event.target.value)}
        onKeyDown={event => {
          if (event.key === 'ArrowDown') {
            event.preventDefault();
            onDown();
          } else if (event.key === 'Escape' && text !== '') {
            event.preventDefault(); // First the words, then the list itself.
            onText('');
          }
        }}
      />
      <Choice
        label={trans.__('Show')}
        any={trans.__('All threads')}
        value={props.filter}
        values={THREAD_FILTERS}
        nameOf={nameOfFilter}
        onChange={props.onFilter}
      />
    </div>
  );
}
