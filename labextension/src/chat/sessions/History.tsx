/** All conversations: search, open, rename, copy, export and delete. Keys: arrows, Enter, F2, Delete, Esc. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { HistoryFilters, isNarrowed } from './HistoryFilters';
import { SessionList } from './SessionList';
import { useTabContext, useTrans } from '../../ui/hooks';
import { formatMoment } from '../../text/numberFormat';
import type { Session } from '../../wire/generated';
import { titleOf } from './panelActions';
import { nameOfKind } from './itemLabels';
import { sessionItems } from './menuItems';
import { SessionRow } from './SessionRow';
import { StatusDot } from './StatusDot';
import { useActions } from './usePanelActions';
import { focused } from '../../ui/focus';

export function History(): React.JSX.Element {
  const trans = useTrans();
  const { history } = useTabContext().conversations;
  React.useEffect(() => {
    void history.refresh(); // The command line may have started some.
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

function HistoryRow({ session }: { session: Session }): React.JSX.Element {
  const trans = useTrans();
  const actions = useActions();
  const { conversations } = useTabContext();
  return (
    <SessionRow
      session={session}
      items={rename => sessionItems(session, actions, trans, rename)}
    >
      <StatusDot status={session.status} />
      <span className="shoulders-History-title">{titleOf(session, trans)}</span>
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
    </SessionRow>
  );
}

/** Update times when the focus entered the list; they fix the order. */
type Moments = ReadonlyMap<string, string>;

/** Keeps rows in place while the list has the focus, an open menu or a title being edited. */
function useStableOrder(sessions: readonly Session[]): {
  /** Null while the order may change. */
  moments: Moments | null;
  onFocus: () => void;
  onBlur: (event: React.FocusEvent) => void;
} {
  const [moments, setMoments] = React.useState<Moments | null>(null);
  return {
    moments,
    onFocus: () =>
      setMoments(
        held =>
          held ??
          new Map(sessions.map(({ id, updated_at }) => [id, updated_at]))
      ),
    onBlur: ({ currentTarget, relatedTarget }) => {
      if (
        !currentTarget.contains(relatedTarget) &&
        !currentTarget.contains(focused()) // The focus stays when the whole window loses it.
      ) {
        setMoments(null);
      }
    }
  };
}

/** The headings of the history, in order. */
type Day = 'today' | 'yesterday' | 'week' | 'earlier';

/** Conversations below one heading. */
interface IDayGroup {
  readonly day: Day;
  readonly sessions: readonly Session[];
}

/** Group a list, newest first, by day; empty groups are left out. Times in `held` override the sessions' own. */
export function groupByDay(
  sessions: readonly Session[],
  now = new Date(),
  held: ReadonlyMap<string, string> | null = null
): IDayGroup[] {
  const days: Day[] = ['today', 'yesterday', 'week', 'earlier'];
  const momentOf = ({ id, updated_at }: Session): string =>
    held?.get(id) ?? updated_at;
  const later = (a: Session, b: Session): boolean => momentOf(a) > momentOf(b);
  const placed = [...sessions].sort((a, b) =>
    later(a, b) ? -1 : later(b, a) ? 1 : 0
  );
  const all = days.map(day => ({
    day,
    sessions: placed.filter(
      session => dayOf(new Date(momentOf(session)), now) === day
    )
  }));
  return all.filter(group => group.sessions.length > 0);
}

function dayOf(moment: Date, now: Date): Day {
  const ago = daysAgo(moment, now);
  if (ago <= 0) {
    return 'today';
  }
  if (ago === 1) {
    return 'yesterday';
  }
  return ago < 7 ? 'week' : 'earlier';
}

/** Midnights between two times in the user's time zone; infinite for an unreadable time. */
function daysAgo(moment: Date, now: Date): number {
  const midnight = (date: Date): number =>
    Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
  const days = (midnight(now) - midnight(moment)) / 86_400_000;
  return Number.isNaN(days) ? Infinity : days;
}
