/** The four budget limits, each saved separately, and how much is spent. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { ErrorNote } from '../../ui/primitives';
import { useTrans, useView } from '../../ui/hooks';
import { parseDollars, writeDollars } from '../../model/sessions/budget';
import { formatMoney } from '../../text/numberFormat';
import type { BudgetLimit, BudgetState } from '../../wire/generated';
import {
  onFieldKey,
  SaveOutcome,
  Row,
  InvalidNote
} from '../components/fields';
import { Loaded } from '../components/components';
import {
  textForm,
  textOf,
  storeParsed,
  useField,
  useStore
} from '../components/hooks';

const DOLLARS = textForm(parseDollars, value => writeDollars(amount(value)));

export function BudgetSection(): React.JSX.Element {
  const trans = useTrans();
  const { budget } = useStore();
  return (
    <>
      <p className="shoulders-Settings-note">
        {trans.__(
          'Your limits apply across all folders. Once one is reached, nothing more is sent; at most one request can exceed it. Free models are never stopped.'
        )}
      </p>
      <Loaded resource={budget}>{state => <Limits state={state} />}</Loaded>
    </>
  );
}

function Limits({ state }: { state: BudgetState }): React.JSX.Element {
  return (
    <>
      {state.error !== null && <ErrorNote error={state.error} />}
      {state.limits.map(limit => (
        <Limit key={limit.scope} limit={limit} />
      ))}
    </>
  );
}

function Limit({ limit }: { limit: BudgetLimit }): React.JSX.Element {
  const trans = useTrans();
  const { Icon } = useView();
  const store = useStore();
  const { scope, user_micro_usd: own, administrator_micro_usd: most } = limit;
  const field = useField(
    `budget:${scope}`,
    writeDollars(own),
    storeParsed(DOLLARS, own, (value, base) =>
      store.putLimit(scope, amount(value), amount(base))
    )
  );
  const typed = textOf(field.value);
  const isWrong = parseDollars(typed) === undefined;
  return (
    <Row
      label={scopeName(scope, trans)}
      note={spentText(limit, trans)}
      control={(id, describedBy) => (
        <>
          <span className="shoulders-Field-unit">$</span>
          <input
            id={id}
            className="shoulders-Input"
            inputMode="decimal"
            autoComplete="off"
            value={typed}
            placeholder={
              most === null
                ? trans.__('No limit')
                : trans.__('At most %1', formatMoney(most))
            }
            aria-invalid={isWrong}
            aria-describedby={describedBy}
            onChange={event => field.edit(event.target.value)}
            onKeyDown={event => onFieldKey(event, field, isWrong)}
          />
        </>
      )}
    >
      <Meter limit={limit} />
      {isWrong && (
        <InvalidNote>
          {trans.__('An amount in dollars, for example 12.50.')}
        </InvalidNote>
      )}
      {most !== null && (
        <div className="shoulders-Field-lock">
          <Icon name="lock" />
          <span>
            {trans.__(
              'Your administrator allows at most %1 (Shoulders.budget_%2_usd in Jupyter’s configuration).',
              formatMoney(most),
              scope
            )}
          </span>
        </div>
      )}
      <SaveOutcome
        field={field}
        stored={own === null ? trans.__('no limit') : formatMoney(own)}
        explicit={true}
        invalid={isWrong}
      />
    </Row>
  );
}

/** How much of a limit is spent. */
function Meter({ limit }: { limit: BudgetLimit }): React.JSX.Element | null {
  const trans = useTrans();
  const { limit_micro_usd: most, spent_micro_usd: spent } = limit;
  if (most === null || spent === null) {
    return null;
  }
  const share = most === 0 ? 100 : Math.min(100, (spent / most) * 100);
  return (
    <div
      className={`shoulders-Meter ${share >= 80 ? 'shoulders-mod-high' : ''}`}
      role="meter"
      aria-label={trans.__('Share of the limit spent')}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(share)}
      aria-valuetext={trans.__(
        '%1 of %2',
        formatMoney(spent),
        formatMoney(most)
      )}
    >
      <div style={{ inlineSize: `${share}%` }} />
    </div>
  );
}

function spentText(limit: BudgetLimit, trans: TranslationBundle): string {
  const {
    limit_micro_usd: most,
    spent_micro_usd: spent,
    held_micro_usd: held
  } = limit;
  if (spent === null) {
    return '';
  }
  const gone =
    most === null
      ? trans.__('%1 spent', formatMoney(spent))
      : trans.__('%1 of %2 spent', formatMoney(spent), formatMoney(most));
  return held === null || held === 0
    ? gone
    : trans.__('%1, plus up to %2 by running calls', gone, formatMoney(held));
}

function scopeName(
  scope: BudgetLimit['scope'],
  trans: TranslationBundle
): string {
  switch (scope) {
    case 'month':
      return trans.__('Per calendar month');
    case 'day':
      return trans.__('Per day');
    case 'session':
      return trans.__('Per conversation');
    case 'turn':
      return trans.__('Per turn');
  }
}

function amount(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
