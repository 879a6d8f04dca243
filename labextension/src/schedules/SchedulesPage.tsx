/** The page of schedules and watchers: all of them, and the form for one. Loaded when it is first opened. */

import '../../style/chat/panel.css';
import '../../style/ui/controls.css';
import '../../style/chat/cards.css';
import '../../style/settings/page.css';
import '../../style/schedules/page.css';

import * as React from 'react';

import { Loaded } from '../settings/components/components';
import { formatMoney } from '../text/numberFormat';
import { Button } from '../ui/primitives';
import { useTrans, ViewContext } from '../ui/hooks';
import type { ScheduleList, ScheduleStatus } from '../wire/generated';
import type { IScheduleStart } from './api';
import { SchedulesContext, useSchedules, type ISchedulesHost } from './host';
import { ScheduleForm } from './ScheduleForm';
import { ScheduleRow } from './ScheduleRow';
import { spanWords } from './triggerWords';

export function SchedulesPage(props: {
  host: ISchedulesHost;
}): React.JSX.Element {
  const { host } = props;
  return (
    <ViewContext.Provider value={host}>
      <SchedulesContext.Provider value={host}>
        <div className="shoulders-Chat shoulders-Settings shoulders-Schedules">
          <div className="shoulders-Schedules-scroll">
            <div className="shoulders-Settings-content">
              <Content />
            </div>
          </div>
        </div>
      </SchedulesContext.Provider>
    </ViewContext.Provider>
  );
}

/** The start of the open form for a new schedule, as the page or a command asked for it. */
function useNewSchedule(): [
  { start: IScheduleStart; count: number } | null,
  (start: IScheduleStart | null) => void
] {
  const { store } = useSchedules();
  const count = React.useRef(0);
  const [open, setOpen] = React.useState<{
    start: IScheduleStart;
    count: number;
  } | null>(null);
  const set = React.useCallback((start: IScheduleStart | null): void => {
    count.current++;
    setOpen(start === null ? null : { start, count: count.current });
  }, []);
  React.useEffect(() => {
    const take = (): void => {
      const start = store.takeStart();
      if (start !== null) {
        set(start);
      }
    };
    take();
    store.started.connect(take);
    return () => {
      store.started.disconnect(take);
    };
  }, [store, set]);
  return [open, set];
}

function Content(): React.JSX.Element {
  const trans = useTrans();
  const { store } = useSchedules();
  const [open, setOpen] = useNewSchedule();
  const head = React.useRef<HTMLDivElement>(null);
  const close = (): void => {
    setOpen(null);
    requestAnimationFrame(() => head.current?.querySelector('button')?.focus());
  };
  return (
    <>
      <div className="shoulders-Settings-head" ref={head}>
        <h2 tabIndex={-1}>{trans.__('Schedules and watchers')}</h2>
        {open === null && (
          <Button kind="primary" onClick={() => setOpen({})}>
            {trans.__('New schedule…')}
          </Button>
        )}
      </div>
      <p className="shoulders-Settings-note">
        {trans.__(
          'A schedule starts a conversation or runs a notebook at set times, a watcher when files change. Both run while the Jupyter server runs, also with this page closed.'
        )}
      </p>
      <Loaded resource={store.list}>
        {list => (
          <>
            {open !== null && (
              <ScheduleForm
                key={open.count}
                schedule={null}
                start={open.start}
                limits={list.limits}
                onDone={close}
              />
            )}
            <Limits list={list} />
            <Rows
              list={list}
              onNew={open === null ? () => setOpen({}) : null}
            />
          </>
        )}
      </Loaded>
    </>
  );
}

function Rows(props: {
  list: ScheduleList;
  onNew: (() => void) | null;
}): React.JSX.Element | null {
  const trans = useTrans();
  const { schedules } = props.list;
  const isEnded = ({ schedule }: ScheduleStatus): boolean =>
    schedule.state === 'ended';
  const current = schedules.filter(status => !isEnded(status));
  const ended = schedules.filter(isEnded);
  if (schedules.length === 0) {
    return props.onNew === null ? null : (
      <p className="shoulders-Schedules-empty">
        {trans.__('No schedules yet.')}
      </p>
    );
  }
  const rows = (shown: readonly ScheduleStatus[]): React.JSX.Element => (
    <ul className="shoulders-Schedules-list">
      {shown.map(status => (
        <ScheduleRow
          key={status.schedule.id}
          status={status}
          limits={props.list.limits}
        />
      ))}
    </ul>
  );
  return (
    <>
      {current.length > 0 && rows(current)}
      {ended.length > 0 && (
        <section aria-label={trans.__('Ended')}>
          <h3>{trans.__('Ended')}</h3>
          {rows(ended)}
        </section>
      )}
    </>
  );
}

/** What all schedules together used today, and may use. */
function Limits(props: { list: ScheduleList }): React.JSX.Element {
  const trans = useTrans();
  const { openSettings } = useSchedules();
  const { limits, schedules } = props.list;
  const runs = schedules.reduce((sum, each) => sum + each.runs_today, 0);
  const cost = schedules.reduce(
    (sum, each) => sum + each.cost_today_micro_usd,
    0
  );
  return (
    <p className="shoulders-Settings-note shoulders-Schedules-limits">
      <span>
        {trans.__(
          'Today: %1 of %2 runs, %3 of %4.',
          runs,
          limits.runs_per_day,
          formatMoney(cost),
          formatMoney(limits.micro_usd_per_day)
        )}
      </span>{' '}
      <span>
        {trans.__(
          'Shortest interval: %1.',
          spanWords(limits.shortest_interval_s, trans)
        )}
      </span>{' '}
      <button type="button" className="shoulders-Link" onClick={openSettings}>
        {trans.__('Limits…')}
      </button>
    </p>
  );
}
