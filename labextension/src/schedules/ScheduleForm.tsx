/** The form that makes or changes a schedule or watcher. */

import * as React from 'react';

import { Line } from '../settings/components/FormLine';
import { serverText } from '../text/serverMessages';
import { visible } from '../text/hiddenCharacters';
import { Button, Disclosure, ErrorNote } from '../ui/primitives';
import { useAction, useTrans } from '../ui/hooks';
import { formatMoney } from '../text/numberFormat';
import type { ErrorInfo, Schedule, ScheduleLimits } from '../wire/generated';
import type { IScheduleStart } from './api';
import {
  fieldOf,
  formOf,
  newForm,
  optionsOf,
  postOf,
  triggerOf,
  type IScheduleForm
} from './formState';
import { useSchedules } from './host';
import { Problem, type IFormState } from './formParts';
import { TriggerFields } from './TriggerFields';

/** A name, in no language. */
const EXAMPLE = 'report.ipynb';

export function ScheduleForm(props: {
  /** Null for a new one. */
  schedule: Schedule | null;
  start: IScheduleStart;
  limits: ScheduleLimits;
  onDone: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { schedule, onDone } = props;
  const title = React.useId();
  const { busy, error, run } = useAction();
  const { state, save, field } = useScheduleForm(props, error);
  const isEmpty =
    state.form.prompt.trim() === '' && state.form.notebook.trim() === '';
  return (
    <section
      className={schedule === null ? 'shoulders-Provider' : ''}
      aria-labelledby={title}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.stopPropagation();
          onDone();
        }
      }}
    >
      <h3 id={title}>
        {schedule === null ? trans.__('New schedule') : trans.__('Edit')}
      </h3>
      <form
        className="shoulders-ProviderForm shoulders-Schedules-form"
        onSubmit={event => {
          event.preventDefault();
          run(save);
        }}
      >
        <WorkFields {...state} />
        <TriggerFields {...state} />
        <QuestionFields {...state} />
        <LimitFields {...state} limits={props.limits} />
        {error !== null && field === null && <ErrorNote error={error} />}
        <div className="shoulders-Actions">
          <button
            type="submit"
            className="shoulders-Button shoulders-mod-primary"
            disabled={busy || isEmpty}
          >
            {busy
              ? trans.__('Saving…')
              : schedule === null
                ? trans.__('Create')
                : trans.__('Save')}
          </button>
          <Button onClick={onDone}>{trans.__('Cancel')}</Button>
        </div>
      </form>
    </section>
  );
}

function useScheduleForm(
  props: {
    schedule: Schedule | null;
    start: IScheduleStart;
    onDone: () => void;
  },
  error: ErrorInfo | null
): {
  state: IFormState;
  save: () => Promise<void>;
  field: keyof IScheduleForm | null;
} {
  const trans = useTrans();
  const { store } = useSchedules();
  const { schedule, start, onDone } = props;
  const [form, setForm] = React.useState(() =>
    schedule === null ? newForm(start) : formOf(schedule)
  );
  const field = error === null ? null : fieldOf(error, form.kind);
  const save = async (): Promise<void> => {
    if (schedule === null) {
      await store.change(store.api.create(postOf(form)));
    } else {
      const body = {
        revision: schedule.revision,
        state: null,
        options: optionsOf(form, schedule.options),
        trigger: triggerOf(form)
      };
      await store.change(store.api.change(schedule.id, body));
    }
    onDone();
  };
  const problemOf = (name: keyof IScheduleForm): string | null =>
    error === null || name !== field
      ? null
      : visible(
          [error.message, error.hint ?? '']
            .map(text => serverText(trans, text))
            .join(' ')
        );
  return {
    state: {
      form,
      change: part => setForm(now => ({ ...now, ...part })),
      problemOf
    },
    save,
    field
  };
}

/** What each run does. */
function WorkFields(state: IFormState): React.JSX.Element {
  const trans = useTrans();
  const { form, change, problemOf } = state;
  return (
    <>
      <Line label={trans.__('Prompt')}>
        {id => (
          <textarea
            id={id}
            className="shoulders-Input shoulders-Schedules-text"
            rows={3}
            // The person opened the form to fill it in.
            autoFocus
            aria-invalid={problemOf('prompt') !== null}
            placeholder={trans.__(
              'What the agent does in each run, for example: check the new data for gaps'
            )}
            value={form.prompt}
            onChange={event => change({ prompt: event.target.value })}
          />
        )}
      </Line>
      <Problem text={problemOf('prompt')} />
      <Line label={trans.__('Notebook to run first (optional)')}>
        {id => (
          <input
            id={id}
            className="shoulders-Input"
            autoComplete="off"
            spellCheck={false}
            placeholder={EXAMPLE}
            aria-invalid={problemOf('notebook') !== null}
            value={form.notebook}
            onChange={event => change({ notebook: event.target.value })}
          />
        )}
      </Line>
      <Problem text={problemOf('notebook')} />
      {form.notebook.trim() !== '' && (
        <Line label={trans.__('Outputs')}>
          {id => (
            <select
              id={id}
              className="shoulders-Input"
              value={form.output}
              onChange={event =>
                change({
                  output: event.target.value === 'copy' ? 'copy' : 'in_place'
                })
              }
            >
              <option value="copy">{trans.__('In a dated copy')}</option>
              <option value="in_place">
                {trans.__('In the notebook itself')}
              </option>
            </select>
          )}
        </Line>
      )}
      {form.sessionId !== null && (
        <label className="shoulders-Schedules-check">
          <input
            type="checkbox"
            checked
            onChange={() => change({ sessionId: null })}
          />
          {trans.__('Continue the same conversation in each run')}
        </label>
      )}
    </>
  );
}

function QuestionFields(state: IFormState): React.JSX.Element {
  const trans = useTrans();
  const { form, change } = state;
  return (
    <>
      <Line label={trans.__('If a run needs an answer or approval')}>
        {id => (
          <select
            id={id}
            className="shoulders-Input"
            value={form.onQuestion}
            onChange={event =>
              change({
                onQuestion: event.target.value === 'wait' ? 'wait' : 'refuse'
              })
            }
          >
            <option value="wait">{trans.__('Wait for me')}</option>
            <option value="refuse">{trans.__('Refuse and continue')}</option>
          </select>
        )}
      </Line>
      {form.kind !== 'files' && (
        <Line label={trans.__('If the server was off at the time')}>
          {id => (
            <select
              id={id}
              className="shoulders-Input"
              value={form.missed}
              onChange={event =>
                change({
                  missed: event.target.value === 'run' ? 'run' : 'skip'
                })
              }
            >
              <option value="run">
                {trans.__('Run once at the next start')}
              </option>
              <option value="skip">{trans.__('Skip it')}</option>
            </select>
          )}
        </Line>
      )}
    </>
  );
}

/** Name, expiry and limits; folded, because defaults fit. */
function LimitFields(
  state: IFormState & { limits: ScheduleLimits }
): React.JSX.Element {
  const trans = useTrans();
  const { form, change, problemOf, limits } = state;
  const hasProblem = (
    ['title', 'expires', 'runsPerDay', 'dollarsPerDay'] as const
  ).some(name => problemOf(name) !== null);
  const field = (
    name: 'title' | 'expires' | 'runsPerDay' | 'dollarsPerDay',
    label: string,
    type: string,
    placeholder: string
  ): React.JSX.Element => (
    <>
      <Line label={label}>
        {id => (
          <input
            id={id}
            className="shoulders-Input"
            type={type}
            min={0}
            step="any"
            autoComplete="off"
            placeholder={placeholder}
            aria-invalid={problemOf(name) !== null}
            value={form[name]}
            onChange={event => change({ [name]: event.target.value })}
          />
        )}
      </Line>
      <Problem text={problemOf(name)} />
    </>
  );
  return (
    <Disclosure
      key={String(hasProblem)}
      className="shoulders-ProviderForm-more"
      summary={trans.__('Name, expiry and limits')}
      startsOpen={hasProblem}
    >
      {() => (
        <>
          {field(
            'title',
            trans.__('Name'),
            'text',
            trans.__('From the prompt')
          )}
          {field('expires', trans.__('Expires'), 'datetime-local', '')}
          {field(
            'runsPerDay',
            trans.__('Most runs a day'),
            'number',
            String(limits.runs_per_day)
          )}
          {field(
            'dollarsPerDay',
            trans.__('Most dollars a day'),
            'number',
            formatMoney(limits.micro_usd_per_day)
          )}
        </>
      )}
    </Disclosure>
  );
}
