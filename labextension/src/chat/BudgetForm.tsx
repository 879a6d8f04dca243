/** Shows and edits the user's budget limits. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import {
  parseDollars,
  writeDollars,
  type Scope
} from '../model/sessions/budget';
import { formatMoney } from '../text/numberFormat';
import type {
  BudgetLimit,
  BudgetState,
  ErrorInfo,
  PutBudget
} from '../wire/generated';
import { useServerAnswer } from '../ui/useServerAnswer';
import { Button, Dots, ErrorNote } from '../ui/primitives';
import {
  focusComposer,
  useAction,
  useHost,
  useTabContext,
  useTrans
} from '../ui/hooks';

export function BudgetForm(props: { onClose: () => void }): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  const title = React.useId();
  const { state, failure } = useBudget();
  const close = (): void => {
    props.onClose();
    focusComposer();
  };
  return (
    <section
      className="shoulders-Card shoulders-Budget"
      role="dialog"
      aria-labelledby={title}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.stopPropagation();
          event.preventDefault();
          close();
        }
      }}
    >
      <header className="shoulders-Card-head" id={title}>
        <Icon name="settings" />
        <span className="shoulders-Call-title">{trans.__('Budget')}</span>
      </header>
      {failure !== null && <ErrorNote error={failure} />}
      {state === null ? (
        failure === null && <Dots />
      ) : (
        <Limits state={state} onClose={close} />
      )}
      {failure !== null && (
        <div className="shoulders-Actions">
          <Button onClick={close}>{trans.__('Close')}</Button>
        </div>
      )}
    </section>
  );
}

function Limits(props: {
  state: BudgetState;
  onClose: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { conversations } = useTabContext();
  const { busy, error, runOnce } = useAction();
  const { limits } = props.state;
  const [texts, setTexts] = React.useState<Partial<Record<Scope, string>>>({});
  const textOf = ({ scope, user_micro_usd }: BudgetLimit): string =>
    texts[scope] ?? writeDollars(user_micro_usd);
  const wrong = limits.some(limit => parseDollars(textOf(limit)) === undefined);
  const save = async (): Promise<void> => {
    await conversations.budget.write(bodyOf(limits, textOf));
    props.onClose();
  };
  return (
    <form
      className="shoulders-Budget-limits"
      onSubmit={event => {
        event.preventDefault();
        if (!wrong) {
          runOnce(save);
        }
      }}
    >
      {limits.map((limit, index) => (
        <Limit
          key={limit.scope}
          limit={limit}
          first={index === 0}
          text={textOf(limit)}
          onChange={text => setTexts({ ...texts, [limit.scope]: text })}
        />
      ))}
      {error !== null && <ErrorNote error={error} />}
      <div className="shoulders-Actions">
        <button
          type="submit"
          className="shoulders-Button shoulders-mod-primary"
          disabled={wrong || busy}
        >
          {trans.__('Save')}
        </button>
        <Button onClick={props.onClose}>{trans.__('Cancel')}</Button>
      </div>
    </form>
  );
}

function Limit(props: {
  limit: BudgetLimit;
  first: boolean;
  text: string;
  onChange: (text: string) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { limit, text } = props;
  const id = React.useId();
  const wrong = parseDollars(text) === undefined;
  const remark = remarkOn(limit, trans);
  return (
    <div className="shoulders-Budget-limit">
      <label htmlFor={id}>{scopeName(limit.scope, trans)}</label>
      <input
        id={id}
        className="shoulders-Input"
        // The user opened the form to type.
        autoFocus={props.first}
        inputMode="decimal"
        value={text}
        placeholder={trans.__('No limit')}
        aria-invalid={wrong}
        aria-describedby={remark === '' ? undefined : `${id}-remark`}
        onChange={event => props.onChange(event.target.value)}
      />
      {remark !== '' && (
        <span className="shoulders-Budget-remark" id={`${id}-remark`}>
          {remark}
        </span>
      )}
    </div>
  );
}

function useBudget(): { state: BudgetState | null; failure: ErrorInfo | null } {
  const { conversations } = useTabContext();
  const { answer, error } = useServerAnswer('', () =>
    conversations.budget.read()
  );
  return { state: answer, failure: error ?? answer?.error ?? null };
}

function bodyOf(
  limits: readonly BudgetLimit[],
  textOf: (limit: BudgetLimit) => string
): PutBudget {
  return Object.fromEntries(
    limits.map(limit => [
      `${limit.scope}_micro_usd`,
      parseDollars(textOf(limit)) ?? null
    ])
  );
}

function remarkOn(limit: BudgetLimit, trans: TranslationBundle): string {
  const { spent_micro_usd: spent, administrator_micro_usd: most } = limit;
  return [
    spent === null ? '' : trans.__('%1 spent', formatMoney(spent)),
    most === null
      ? ''
      : trans.__('your administrator’s limit: %1', formatMoney(most))
  ]
    .filter(part => part !== '')
    .join(' · ');
}

function scopeName(scope: Scope, trans: TranslationBundle): string {
  switch (scope) {
    case 'month':
      return trans.__('Per month, in dollars');
    case 'day':
      return trans.__('Per day');
    case 'session':
      return trans.__('Per conversation');
    case 'turn':
      return trans.__('Per turn');
  }
}
