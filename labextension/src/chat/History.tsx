/** All conversations, to find, open, rename, copy, export and delete. By keyboard: arrows, Enter, F2, Delete, Esc. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { groupByDay, type Day } from '../model/history-days';
import { HistoryFilters, isNarrowed } from './HistoryFilters';
import { HistoryRow } from './HistoryRow';
import { Button, ErrorNote } from './parts';
import { moveRow, rowsIn } from './rows';
import { focusField, usePlace, useTrans } from './use';
import { useActions } from './usePanel';
import { useSteadyOrder } from './useSteadyOrder';

const ROW = '.shoulders-History-open';

export function History(): React.JSX.Element {
  const trans = useTrans();
  const actions = useActions();
  const { history } = usePlace().conversations;
  const place = React.useRef<HTMLElement>(null);
  React.useEffect(() => {
    void history.refresh(); // Somebody else's command line may have begun some.
  }, [history]);
  return (
    <section
      ref={place}
      className="shoulders-History"
      aria-label={trans.__('History')}
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
      <HistoryFilters onDown={() => rowsIn(place.current, ROW)[0]?.focus()} />
      {history.error !== null && <ErrorNote error={history.error} />}
      <Days />
      {history.found.length === 0 && <Nothing />}
      {history.hasMore && (
        <Button onClick={() => void history.more()}>
          {trans.__('Show more')}
        </Button>
      )}
    </section>
  );
}

/** The conversations below their headings. */
function Days(): React.JSX.Element {
  const trans = useTrans();
  const { history } = usePlace().conversations;
  const { moments, onFocus, onBlur } = useSteadyOrder(history.found);
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

/** Nothing to show, and what to do about it. */
function Nothing(): React.JSX.Element | null {
  const trans = useTrans();
  const { history } = usePlace().conversations;
  if (!history.isRead) {
    return null;
  }
  return (
    <p className="shoulders-History-none" role="status">
      {isNarrowed(history.query)
        ? trans.__('No conversation matches.')
        : trans.__('No conversations yet.')}
    </p>
  );
}

function nameOfDay(day: Day, trans: TranslationBundle): string {
  switch (day) {
    case 'today':
      return trans.__('Today');
    case 'yesterday':
      return trans.__('Yesterday');
    case 'week':
      return trans.__('Last seven days');
    case 'earlier':
      return trans.__('Earlier');
  }
}
