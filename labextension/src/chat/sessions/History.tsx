/** All conversations, to find, open, rename, copy, export and delete. By keyboard: arrows, Enter, F2, Delete, Esc. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { groupByDay, type Day } from '../../model/view-models/historyDays';
import { HistoryFilters, isNarrowed } from './HistoryFilters';
import { HistoryRow } from './HistoryRow';
import { SessionList } from './SessionList';
import { useTabContext, useTrans } from '../../ui/hooks';
import { useStableOrder } from './useStableOrder';

export function History(): React.JSX.Element {
  const trans = useTrans();
  const { history } = useTabContext().conversations;
  React.useEffect(() => {
    void history.refresh(); // Somebody else's command line may have begun some.
  }, [history]);
  const none = isNarrowed(history.query)
    ? trans.__('No matching conversations.')
    : trans.__('No conversations yet.');
  return (
    <SessionList
      label={trans.__('History')}
      store={history}
      filters={<HistoryFilters />}
      none={history.found.length === 0 ? none : null}
    >
      <Days />
    </SessionList>
  );
}

/** The conversations below their headings. */
function Days(): React.JSX.Element {
  const trans = useTrans();
  const { history } = useTabContext().conversations;
  const { moments, onFocus, onBlur } = useStableOrder(history.found);
  return (
    <div onFocus={onFocus} onBlur={onBlur}>
      {groupByDay(history.found, new Date(), moments).map(
        ({ day, sessions }) => (
          <div key={day} className="shoulders-History-day">
            <h3>{nameOfDay(day, trans)}</h3>
            <ul>
              {sessions.map(session => (
                <HistoryRow key={session.id} session={session} />
              ))}
            </ul>
          </div>
        )
      )}
    </div>
  );
}

function nameOfDay(day: Day, trans: TranslationBundle): string {
  switch (day) {
    case 'today':
      return trans.__('Today');
    case 'yesterday':
      return trans.__('Yesterday');
    case 'week':
      return trans.__('Last 7 days');
    case 'earlier':
      return trans.__('Earlier');
  }
}
