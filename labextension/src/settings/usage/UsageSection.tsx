/** Usage and cost by day and model, and how well turns and tools worked. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { Disclosure, ErrorNote } from '../../ui/primitives';
import { useTrans } from '../../ui/hooks';
import { formatMoney, formatTokens } from '../../text/numberFormat';
import { Group, Loaded } from '../components/components';
import { Resource } from '../../client/resource';
import { useStore } from '../components/hooks';
import type { Usage, UsageRow } from '../../wire/generated';
import { DayChart, ModelChart } from './charts';
import {
  dayBars,
  daysOf,
  modelBars,
  wholePercent,
  type Measure,
  type Period
} from './series';
import { FactList, type Fact } from './FactList';
import { Reliability } from './Reliability';
import { RowsTable } from './tables';

/** The same period, summed three ways. */
interface IUsages {
  readonly day: Usage;
  readonly model: Usage;
  readonly tool: Usage;
}

export function UsageSection(): React.JSX.Element {
  const trans = useTrans();
  const [period, setPeriod] = React.useState<Period>('month');
  const [measure, setMeasure] = React.useState<Measure>('cost');
  const usages = useUsages(period);
  return (
    <>
      <div className="shoulders-Usage-choices">
        <Choice
          label={trans.__('Period')}
          value={period}
          options={periods(trans)}
          onChange={setPeriod}
        />
        <Choice
          label={trans.__('Show')}
          value={measure}
          options={measures(trans)}
          onChange={setMeasure}
        />
      </div>
      <Loaded resource={usages}>
        {value => <Sums usages={value} measure={measure} />}
      </Loaded>
    </>
  );
}

/** The sums of a period; read again after each turn. */
function useUsages(period: Period): Resource<IUsages> {
  const { api, usageChanged } = useStore();
  const usages = React.useMemo(
    () =>
      new Resource(async () => {
        const days = daysOf(period, new Date());
        const [day, model, tool] = await Promise.all([
          api.usage({ by: 'day', ...days }),
          api.usage({ by: 'model', ...days }),
          api.usage({ by: 'tool', ...days })
        ]);
        return { day, model, tool };
      }),
    [api, period]
  );
  React.useEffect(() => {
    const again = (): void => void usages.refresh();
    usageChanged.connect(again);
    return () => {
      usageChanged.disconnect(again);
    };
  }, [usages, usageChanged]);
  return usages;
}

function Sums(props: { usages: IUsages; measure: Measure }): React.JSX.Element {
  const trans = useTrans();
  const { usages, measure } = props;
  const { day, model, tool } = usages;
  return (
    <>
      {day.error !== null && <ErrorNote error={day.error} />}
      {day.total !== null && <Totals total={day.total} />}
      <Group title={trans.__('By day')}>
        <DayChart
          bars={dayBars(day.rows, day.first_day, day.last_day, measure)}
          measure={measure}
        />
        <Disclosure
          className="shoulders-Usage-table"
          summary={trans.__('Days as a table')}
        >
          {() => <RowsTable rows={day.rows} firstColumn={trans.__('Day')} />}
        </Disclosure>
      </Group>
      <Group title={trans.__('By model')}>
        <ModelChart bars={modelBars(model.rows, measure)} measure={measure} />
        <Disclosure
          className="shoulders-Usage-table"
          summary={trans.__('Models as a table')}
        >
          {() => (
            <RowsTable rows={model.rows} firstColumn={trans.__('Model')} />
          )}
        </Disclosure>
      </Group>
      <Reliability usage={tool} />
    </>
  );
}

function Totals({ total }: { total: UsageRow }): React.JSX.Element {
  const trans = useTrans();
  const { known_cost_micro_usd: cost, unknown_cost_calls: unknown } = total;
  const facts: readonly Fact[] = [
    [
      trans.__('Cost'),
      cost === null
        ? total.calls === 0
          ? formatMoney(0)
          : trans.__('unknown')
        : formatMoney(cost),
      unknown === 0 || cost === null
        ? ''
        : trans._n(
            'and %1 call of unknown cost',
            'and %1 calls of unknown cost',
            unknown
          )
    ],
    [
      trans.__('Calls'),
      String(total.calls),
      total.success_rate === null
        ? ''
        : trans.__('%1 % answered', wholePercent(total.success_rate))
    ],
    [
      trans.__('Tokens read'),
      formatTokens(total.input_tokens),
      total.cache_read_tokens === 0
        ? ''
        : trans.__('%1 from the cache', formatTokens(total.cache_read_tokens))
    ],
    [
      trans.__('Tokens written'),
      formatTokens(total.output_tokens),
      total.estimated === 0
        ? ''
        : trans._n(
            '%1 call is estimated',
            '%1 calls are estimated',
            total.estimated
          )
    ]
  ];
  return <FactList facts={facts} />;
}

function Choice<T extends string>(props: {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}): React.JSX.Element {
  return (
    <label className="shoulders-Usage-choice">
      <span>{props.label}</span>
      <select
        className="shoulders-Input"
        value={props.value}
        onChange={event => {
          const chosen = props.options.find(
            ([value]) => value === event.target.value
          );
          if (chosen !== undefined) {
            props.onChange(chosen[0]);
          }
        }}
      >
        {props.options.map(([value, title]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

function periods(
  trans: TranslationBundle
): readonly (readonly [Period, string])[] {
  return [
    ['month', trans.__('This month')],
    ['lastMonth', trans.__('Last month')],
    ['week', trans.__('The last 7 days')],
    ['days30', trans.__('The last 30 days')],
    ['days90', trans.__('The last 90 days')]
  ];
}

function measures(
  trans: TranslationBundle
): readonly (readonly [Measure, string])[] {
  return [
    ['cost', trans.__('Cost')],
    ['tokens', trans.__('Tokens')],
    ['calls', trans.__('Calls')]
  ];
}
