/** One schedule or watcher: when it runs, its last run, and what can be done with it. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { plainError } from '../client/http';
import { visible } from '../text/hiddenCharacters';
import { formatMoney } from '../text/numberFormat';
import { serverText } from '../text/serverMessages';
import { Badge, Button, Disclosure, Dots, ErrorNote } from '../ui/primitives';
import { useAction, useTrans } from '../ui/hooks';
import { useServerAnswer } from '../ui/useServerAnswer';
import { useResource } from '../settings/components/hooks';
import type {
  Schedule,
  ScheduleLimits,
  ScheduleRun,
  ScheduleStatus,
  WatcherStatus
} from '../wire/generated';
import { useSchedules } from './host';
import { ScheduleForm } from './ScheduleForm';
import { formatMoment, runWords, triggerWords } from './triggerWords';

export function ScheduleRow(props: {
  status: ScheduleStatus;
  limits: ScheduleLimits;
}): React.JSX.Element {
  const { status, limits } = props;
  const { schedule, last_run } = status;
  const title = React.useId();
  const row = React.useRef<HTMLLIElement>(null);
  const [editing, setEditing] = React.useState(false);
  const close = (): void => {
    setEditing(false);
    requestAnimationFrame(() =>
      row.current?.querySelector<HTMLElement>('[data-edit]')?.focus()
    );
  };
  return (
    <li className="shoulders-Provider" aria-labelledby={title} ref={row}>
      <Head schedule={schedule} run={last_run} title={title} />
      {editing ? (
        <ScheduleForm
          schedule={schedule}
          start={{}}
          limits={limits}
          onDone={close}
        />
      ) : (
        <>
          <Facts status={status} />
          {schedule.trigger.kind === 'files' && schedule.state === 'active' && (
            <Watching id={schedule.id} />
          )}
          <LastRun run={last_run} />
          <Actions schedule={schedule} onEdit={() => setEditing(true)} />
          <History schedule={schedule} run={last_run} />
        </>
      )}
    </li>
  );
}

function Head(props: {
  schedule: Schedule;
  run: ScheduleRun | null;
  title: string;
}): React.JSX.Element {
  const trans = useTrans();
  const { schedule } = props;
  return (
    <div className="shoulders-Provider-head">
      <h3 id={props.title}>{visible(schedule.options.title)}</h3>
      {schedule.state === 'paused' && (
        <Badge kind="warning">{trans.__('Paused')}</Badge>
      )}
      {schedule.created_by === 'agent' && (
        <Badge>{trans.__('Made by the agent')}</Badge>
      )}
    </div>
  );
}

function Facts(props: { status: ScheduleStatus }): React.JSX.Element {
  const trans = useTrans();
  const { openDocument } = useSchedules();
  const { schedule, runs_today, cost_today_micro_usd } = props.status;
  const { options, next_at, state, state_reason, reason } = schedule;
  const { notebook } = options;
  return (
    <>
      <p className="shoulders-Schedules-facts">
        <span>{triggerWords(schedule.trigger, trans)}</span>
        {state === 'active' && next_at !== null && (
          <span>{trans.__('Next: %1', formatMoment(next_at))}</span>
        )}
        {notebook !== null && (
          <button
            type="button"
            className="shoulders-Link"
            onClick={() => openDocument(notebook)}
          >
            {visible(notebook)}
          </button>
        )}
        {runs_today > 0 && (
          <span>
            {trans._n('%1 run today', '%1 runs today', runs_today)}
            {cost_today_micro_usd > 0 &&
              ` · ${formatMoney(cost_today_micro_usd)}`}
          </span>
        )}
      </p>
      {options.prompt !== null && options.prompt !== options.title && (
        <p className="shoulders-Schedules-prompt">{visible(options.prompt)}</p>
      )}
      {[state_reason, reason].map(
        text =>
          text !== null && (
            <p className="shoulders-Settings-note" key={text}>
              {visible(serverText(trans, text))}
            </p>
          )
      )}
    </>
  );
}

/** How the watcher finds changes, where it is not the ordinary way. */
function Watching(props: { id: string }): React.JSX.Element | null {
  const trans = useTrans();
  const { store } = useSchedules();
  const { value } = useResource(store.watchers);
  const found: WatcherStatus | undefined = value?.watchers.find(
    ({ schedule_id }) => schedule_id === props.id
  );
  if (found === undefined) {
    return null;
  }
  return (
    <>
      <p className="shoulders-Settings-note">
        {found.files !== null &&
          trans._n('%1 file matches.', '%1 files match.', found.files)}{' '}
        {found.method === 'polling' &&
          trans.__('Compared every 10 s instead of at once.')}
      </p>
      {found.problem !== null && (
        <ErrorNote
          error={plainError(serverText(trans, found.problem), false)}
        />
      )}
    </>
  );
}

const BADGES: Partial<
  Record<ScheduleRun['state'], 'good' | 'bad' | 'warning'>
> = {
  done: 'good',
  failed: 'bad',
  refused: 'warning',
  interrupted: 'warning',
  waiting: 'warning'
};

function LastRun(props: { run: ScheduleRun | null }): React.JSX.Element {
  const trans = useTrans();
  const { run } = props;
  return (
    <div className="shoulders-Schedules-last">
      {run === null ? (
        <span className="shoulders-Settings-note">
          {trans.__('Has not run yet.')}
        </span>
      ) : (
        <RunLine run={run} />
      )}
    </div>
  );
}

/** State, time, cost, message and conversation of a run. */
function RunLine(props: { run: ScheduleRun }): React.JSX.Element {
  const trans = useTrans();
  const { openConversation, openDocument } = useSchedules();
  const { run } = props;
  const { session_id, notebook } = run;
  return (
    <>
      <div className="shoulders-Schedules-run">
        <Badge kind={BADGES[run.state] ?? 'plain'}>
          {runWords(run.state, trans)}
        </Badge>
        <time dateTime={run.started_at}>{formatMoment(run.started_at)}</time>
        <span>{causeWords(run.cause, trans)}</span>
        {run.cost_micro_usd !== null && run.cost_micro_usd > 0 && (
          <span>{formatMoney(run.cost_micro_usd)}</span>
        )}
        {session_id !== null && (
          <button
            type="button"
            className="shoulders-Link"
            onClick={() => openConversation(session_id)}
          >
            {trans.__('Show conversation')}
          </button>
        )}
        {notebook !== null && run.state === 'done' && (
          <button
            type="button"
            className="shoulders-Link"
            onClick={() => openDocument(notebook)}
          >
            {trans.__('Open notebook')}
          </button>
        )}
      </div>
      {run.message !== null && run.message !== '' && (
        <p className="shoulders-Settings-note">
          {visible(serverText(trans, run.message))}
        </p>
      )}
      {run.files.length > 0 && (
        <p className="shoulders-Settings-note">
          {visible(run.files.join(', '))}
        </p>
      )}
    </>
  );
}

function causeWords(
  cause: ScheduleRun['cause'],
  trans: TranslationBundle
): string {
  switch (cause) {
    case 'time':
      return trans.__('on time');
    case 'late':
      return trans.__('late');
    case 'person':
      return trans.__('started by you');
    case 'files':
      return trans.__('files changed');
  }
}

function Actions(props: {
  schedule: Schedule;
  onEdit: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { store, confirm } = useSchedules();
  const { busy, error, run } = useAction();
  const { id, revision, state, options } = props.schedule;
  const title = visible(options.title);
  const remove = async (): Promise<void> => {
    const sure = await confirm(
      trans.__('Delete “%1”?', title),
      trans.__('Its history is deleted too. Its conversations stay.'),
      trans.__('Delete')
    );
    if (sure) {
      await store.change(store.api.remove(id));
    }
  };
  const pause = (to: 'active' | 'paused'): void =>
    run(() =>
      store.change(
        store.api.change(id, {
          revision,
          state: to,
          options: null,
          trigger: null
        })
      )
    );
  return (
    <>
      <div className="shoulders-Actions">
        {state !== 'ended' && (
          <Button
            disabled={busy}
            label={trans.__('Run “%1” now', title)}
            onClick={() => run(() => store.change(store.api.runNow(id)))}
          >
            {trans.__('Run now')}
          </Button>
        )}
        {state === 'active' && (
          <Button
            disabled={busy}
            label={trans.__('Pause “%1”', title)}
            onClick={() => pause('paused')}
          >
            {trans.__('Pause')}
          </Button>
        )}
        {state === 'paused' && (
          <Button
            disabled={busy}
            label={trans.__('Resume “%1”', title)}
            onClick={() => pause('active')}
          >
            {trans.__('Resume')}
          </Button>
        )}
        <button
          type="button"
          data-edit=""
          className="shoulders-Button shoulders-mod-plain"
          aria-label={trans.__('Edit “%1”', title)}
          onClick={props.onEdit}
        >
          {trans.__('Edit…')}
        </button>
        <Button
          disabled={busy}
          label={trans.__('Delete “%1”', title)}
          onClick={() => run(remove)}
        >
          {trans.__('Delete…')}
        </Button>
      </div>
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}

/** Earlier runs, read when opened. */
function History(props: {
  schedule: Schedule;
  run: ScheduleRun | null;
}): React.JSX.Element | null {
  const trans = useTrans();
  return props.run === null ? null : (
    <Disclosure className="shoulders-McpServer-more" summary={trans.__('Runs')}>
      {() => <Runs id={props.schedule.id} last={props.run?.id ?? ''} />}
    </Disclosure>
  );
}

function Runs(props: { id: string; last: string }): React.JSX.Element {
  const { store } = useSchedules();
  const { answer, error } = useServerAnswer(props.last, () =>
    store.api.runs(props.id)
  );
  return (
    <>
      {error !== null && <ErrorNote error={error} />}
      {answer === null && error === null && <Dots />}
      <ul className="shoulders-Schedules-runs">
        {answer?.runs.map(run => (
          <li key={run.id}>
            <RunLine run={run} />
          </li>
        ))}
      </ul>
    </>
  );
}
