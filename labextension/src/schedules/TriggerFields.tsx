/** When a schedule runs: the kind of trigger, its fields, and a preview from the server. */

import * as React from 'react';

import { infoOf } from '../client/http';
import { Line } from '../settings/components/FormLine';
import { visible } from '../text/hiddenCharacters';
import { serverText } from '../text/serverMessages';
import { useTrans } from '../ui/hooks';
import type { ErrorInfo, SchedulePreview } from '../wire/generated';
import { triggerOf, type IScheduleForm, type TriggerKind } from './formState';
import { useSchedules } from './host';
import { Problem, type IFormState } from './formParts';
import { formatMoment, triggerWords, type Trigger } from './triggerWords';

/** Pause in typing before a preview is requested, in ms. */
const PREVIEW_PAUSE = 300;

/** A pattern, in no language. */
const EXAMPLE = 'data/**/*.csv';

export function TriggerFields(state: IFormState): React.JSX.Element {
  const trans = useTrans();
  const { form, change } = state;
  const name = React.useId();
  const kinds: readonly [TriggerKind, string][] = [
    ['cron', trans.__('At set times')],
    ['interval', trans.__('At an interval')],
    ['once', trans.__('Once')],
    ['files', trans.__('When files change')]
  ];
  return (
    <>
      <fieldset className="shoulders-Scope shoulders-Schedules-kinds">
        <legend>{trans.__('When')}</legend>
        {kinds.map(([kind, title]) => (
          <label key={kind}>
            <input
              type="radio"
              name={name}
              checked={form.kind === kind}
              onChange={() => change({ kind })}
            />
            <span>{title}</span>
          </label>
        ))}
      </fieldset>
      {form.kind === 'cron' && <CronFields {...state} />}
      {form.kind === 'interval' && <IntervalFields {...state} />}
      {form.kind === 'once' && (
        <Field
          {...state}
          name="at"
          label={trans.__('Date and time')}
          type="datetime-local"
        />
      )}
      {form.kind === 'files' && <FilesFields {...state} />}
      <Preview form={form} />
    </>
  );
}

function Field(
  props: IFormState & {
    name: 'at' | 'every' | 'expression' | 'timeZone' | 'settle';
    label: string;
    type?: string;
    placeholder?: string;
    note?: string;
  }
): React.JSX.Element {
  const { form, change, problemOf, name } = props;
  const note = React.useId();
  return (
    <>
      <Line label={props.label}>
        {id => (
          <>
            <input
              id={id}
              className="shoulders-Input"
              type={props.type ?? 'text'}
              min={props.type === 'number' ? 1 : undefined}
              step="any"
              autoComplete="off"
              spellCheck={false}
              placeholder={props.placeholder}
              aria-invalid={problemOf(name) !== null}
              aria-describedby={props.note === undefined ? undefined : note}
              value={form[name]}
              onChange={event => change({ [name]: event.target.value })}
            />
            {props.note !== undefined && (
              <span id={note} className="shoulders-Settings-note">
                {props.note}
              </span>
            )}
          </>
        )}
      </Line>
      <Problem text={problemOf(name)} />
    </>
  );
}

function CronFields(state: IFormState): React.JSX.Element {
  const trans = useTrans();
  const { form, change } = state;
  const presets: readonly [string, string][] = [
    ['0 9 * * MON-FRI', trans.__('Every weekday at 09:00')],
    ['0 9 * * *', trans.__('Every day at 09:00')],
    ['0 9 * * MON', trans.__('Every Monday at 09:00')],
    ['0 9 1 * *', trans.__('On the first of each month')]
  ];
  const isPreset = presets.some(([value]) => value === form.expression);
  return (
    <>
      <Line label={trans.__('Times')}>
        {id => (
          <select
            id={id}
            className="shoulders-Input"
            value={isPreset ? form.expression : ''}
            onChange={event =>
              event.target.value !== '' &&
              change({ expression: event.target.value })
            }
          >
            {presets.map(([value, title]) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
            <option value="">{trans.__('As the cron expression says')}</option>
          </select>
        )}
      </Line>
      <Field
        {...state}
        name="expression"
        label={trans.__('Cron expression')}
        note={trans.__('Minute, hour, day of month, month, day of week')}
      />
      <Field {...state} name="timeZone" label={trans.__('Time zone')} />
    </>
  );
}

function IntervalFields(state: IFormState): React.JSX.Element {
  const trans = useTrans();
  const { form, change } = state;
  const units: readonly [IScheduleForm['unit'], string][] = [
    ['min', trans.__('minutes')],
    ['h', trans.__('hours')],
    ['d', trans.__('days')]
  ];
  return (
    <div className="shoulders-Schedules-pair">
      <div>
        <Field
          {...state}
          name="every"
          label={trans.__('Every')}
          type="number"
        />
      </div>
      <Line label={trans.__('Unit')}>
        {id => (
          <select
            id={id}
            className="shoulders-Input"
            value={form.unit}
            onChange={event => {
              const unit = units.find(
                ([value]) => value === event.target.value
              );
              if (unit !== undefined) {
                change({ unit: unit[0] });
              }
            }}
          >
            {units.map(([value, title]) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </select>
        )}
      </Line>
    </div>
  );
}

function FilesFields(state: IFormState): React.JSX.Element {
  const trans = useTrans();
  const { form, change, problemOf } = state;
  return (
    <>
      <Line label={trans.__('Files, one pattern on each line')}>
        {id => (
          <textarea
            id={id}
            className="shoulders-Input shoulders-McpServer-text"
            rows={2}
            spellCheck={false}
            placeholder={EXAMPLE}
            aria-invalid={problemOf('globs') !== null}
            value={form.globs}
            onChange={event => change({ globs: event.target.value })}
          />
        )}
      </Line>
      <Problem text={problemOf('globs')} />
      <Field
        {...state}
        name="settle"
        label={trans.__('Seconds without another change before the run')}
        type="number"
      />
    </>
  );
}

/** The trigger in words, and its next times. */
function Preview(props: { form: IScheduleForm }): React.JSX.Element {
  const trans = useTrans();
  const { preview, error } = usePreview(props.form);
  const trigger = triggerOf(props.form);
  return (
    <div className="shoulders-Schedules-preview" role="status">
      {error !== null ? (
        <span className="shoulders-Field-wrong">
          {visible(serverText(trans, error.message))}
        </span>
      ) : (
        preview !== null && (
          <>
            <span>{triggerWords(trigger, trans)}</span>
            {preview.next_times.length > 0 && (
              <ul aria-label={trans.__('Next runs')}>
                {preview.next_times.map(time => (
                  <li key={time}>{formatMoment(time)}</li>
                ))}
              </ul>
            )}
            {trigger.kind === 'files' && (
              <span>{matchingWords(preview.matching_files, trans)}</span>
            )}
          </>
        )
      )}
    </div>
  );
}

function matchingWords(
  count: number | null,
  trans: ReturnType<typeof useTrans>
): string {
  if (count === null) {
    return trans.__('Too many files match. Use a narrower pattern.');
  }
  return count === 0
    ? trans.__('No file matches now. Hidden and ignored files are not watched.')
    : trans._n('%1 file matches now.', '%1 files match now.', count);
}

/** The server's preview of the trigger, requested when typing pauses. */
function usePreview(form: IScheduleForm): {
  preview: SchedulePreview | null;
  error: ErrorInfo | null;
} {
  const { store } = useSchedules();
  const trigger = JSON.stringify(triggerOf(form));
  const isEmpty = form.kind === 'files' && form.globs.trim() === '';
  const [state, setState] = React.useState<{
    preview: SchedulePreview | null;
    error: ErrorInfo | null;
  }>({ preview: null, error: null });
  React.useEffect(() => {
    let gone = false;
    const set = (next: typeof state): void => {
      if (!gone) {
        setState(next);
      }
    };
    const timer = setTimeout(() => {
      if (isEmpty) {
        set({ preview: null, error: null });
        return;
      }
      store.api
        .preview({ trigger: JSON.parse(trigger) as Trigger })
        .then(preview => set({ preview, error: null }))
        .catch((reason: unknown) =>
          set({ preview: null, error: infoOf(reason) })
        );
    }, PREVIEW_PAUSE);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [store, trigger, isEmpty]);
  return state;
}
