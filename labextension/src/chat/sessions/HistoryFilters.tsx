/** Filters of the history: text, kind, source. */

import * as React from 'react';

import type { Session } from '../../wire/generated';
import { FilterSelect } from '../../ui/FilterSelect';
import { KINDS, nameOfKind, nameOfSource, SOURCES } from './itemLabels';
import { SearchField } from './SessionList';
import { useTabContext, useTrans } from '../../ui/hooks';

/** Pause in typing before a search, in ms. */
const SEARCH_DELAY = 200;

export function HistoryFilters(): React.JSX.Element {
  const trans = useTrans();
  const { history } = useTabContext().conversations;
  const { kind, source } = history.query;
  return (
    <>
      <Search />
      <FilterSelect
        label={trans.__('Kind')}
        any={trans.__('All kinds')}
        value={kind}
        values={KINDS}
        nameOf={nameOfKind}
        onChange={chosen => void history.find({ kind: chosen })}
      />
      <FilterSelect
        label={trans.__('Source')}
        any={trans.__('All sources')}
        value={source}
        values={SOURCES}
        nameOf={nameOfSource}
        onChange={chosen => void history.find({ source: chosen })}
      />
    </>
  );
}

/** The search text, applied once the user stops typing. */
function Search(): React.JSX.Element {
  const trans = useTrans();
  const { history } = useTabContext().conversations;
  const [text, setText] = React.useState(history.query.text);
  React.useEffect(() => {
    if (text === history.query.text) {
      return;
    }
    const timer = setTimeout(() => void history.find({ text }), SEARCH_DELAY);
    return () => clearTimeout(timer);
  }, [history, text]);
  return (
    <SearchField
      label={trans.__('Search conversations')}
      text={text}
      onText={setText}
    />
  );
}

/** Whether any filter is set. */
export function isNarrowed(query: {
  text: string;
  kind: Session['kind'] | null;
  source: Session['source'] | null;
}): boolean {
  return query.text !== '' || query.kind !== null || query.source !== null;
}
