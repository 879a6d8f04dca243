/** The two usage charts. They are images; tables beside them have the same data. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { useTrans } from '../../ui/hooks';
import { formatMoney, formatTokens } from '../../text/numberFormat';
import { visible } from '../../text/hiddenCharacters';
import { axisTop, type IBar, type Measure } from './series';

/** Height of the plot, in px. */
const HEIGHT = 140;
/** Least height of a bar that is not zero, in px. */
const MIN_BAR_HEIGHT = 3;
/** Most day labels below the chart. */
const MAX_LABELS = 6;

/** A bar per day. */
export function DayChart(props: {
  bars: readonly IBar[];
  measure: Measure;
}): React.JSX.Element {
  const trans = useTrans();
  const { bars, measure } = props;
  const most = Math.max(0, ...bars.map(({ value }) => value ?? 0));
  const top = axisTop(measure === 'cost' ? costAxisTop(most) : most);
  const width = 100 / Math.max(1, bars.length);
  const every = Math.max(1, Math.ceil(bars.length / MAX_LABELS));
  return (
    <figure className="shoulders-Chart">
      <div className="shoulders-Chart-axis" aria-hidden="true">
        {[top, top / 2, 0].map(value => (
          <span key={value}>{valueText(value, measure)}</span>
        ))}
      </div>
      <svg
        className="shoulders-Chart-plot"
        role="img"
        aria-label={summary(bars, measure, trans)}
        height={HEIGHT}
        width="100%"
      >
        {[0, 0.5, 1].map(share => (
          <line
            key={share}
            className="shoulders-Chart-line"
            x1="0"
            x2="100%"
            y1={Math.max(0.5, HEIGHT * share - 0.5)}
            y2={Math.max(0.5, HEIGHT * share - 0.5)}
          />
        ))}
        {bars.map((bar, index) => (
          <DayBar
            key={bar.key}
            bar={bar}
            height={heightOf(bar, top)}
            x={index * width}
            width={width}
            title={barText(bar, measure, trans)}
          />
        ))}
      </svg>
      <div className="shoulders-Chart-days" aria-hidden="true">
        {bars.map(({ key }, index) => (
          <span key={key} style={{ width: `${width}%` }}>
            {index % every === 0 && dayName(key)}
          </span>
        ))}
      </div>
    </figure>
  );
}

function DayBar(props: {
  bar: IBar;
  height: number;
  /** In per cent of the plot. */
  x: number;
  width: number;
  title: string;
}): React.JSX.Element {
  const { bar, height, x, width, title } = props;
  return (
    <g>
      {/* The whole column shows the tooltip. */}
      <rect
        className="shoulders-Chart-column"
        x={`${x}%`}
        width={`${width}%`}
        y="0"
        height={HEIGHT}
      >
        <title>{title}</title>
      </rect>
      <rect
        className={
          bar.unknown > 0
            ? 'shoulders-Chart-bar shoulders-mod-unknown'
            : 'shoulders-Chart-bar'
        }
        x={`${x + width * 0.12}%`}
        width={`${width * 0.76}%`}
        y={HEIGHT - height}
        height={height}
        rx="2"
      />
    </g>
  );
}

/** A bar per model. */
export function ModelChart(props: {
  bars: readonly IBar[];
  measure: Measure;
}): React.JSX.Element {
  const trans = useTrans();
  const { bars, measure } = props;
  const most = Math.max(1, ...bars.map(({ value }) => value ?? 0));
  return bars.length === 0 ? (
    <p className="shoulders-Settings-note">{trans.__('No model calls.')}</p>
  ) : (
    <ul className="shoulders-Bars">
      {bars.map(bar => (
        <li key={bar.key}>
          <span className="shoulders-Bars-name">{visible(bar.key)}</span>
          <span className="shoulders-Bars-value">
            {amountText(bar, measure, trans)}
          </span>
          <svg
            className="shoulders-Bars-bar"
            width="100%"
            height="8"
            aria-hidden="true"
          >
            <rect
              className="shoulders-Chart-bar"
              width={`${((bar.value ?? 0) / most) * 100}%`}
              height="8"
              rx="2"
            />
          </svg>
        </li>
      ))}
    </ul>
  );
}

/** The axis shows distinct amounts; it reaches at least one cent. */
function costAxisTop(most: number): number {
  return most === 0 ? 10_000 : Math.max(most, 200);
}

function heightOf({ value, unknown }: IBar, top: number): number {
  const height = ((value ?? 0) / top) * HEIGHT;
  return height > 0 || unknown > 0 ? Math.max(MIN_BAR_HEIGHT, height) : 0;
}

/** Text alternative of the chart. */
function summary(
  bars: readonly IBar[],
  measure: Measure,
  trans: TranslationBundle
): string {
  const used = bars.filter(({ value, unknown }) => value !== 0 || unknown > 0);
  const [first, ...rest] = used;
  if (first === undefined) {
    return trans.__('No usage in this period.');
  }
  const highest = rest.reduce(
    (best, bar) => ((bar.value ?? 0) > (best.value ?? 0) ? bar : best),
    first
  );
  return trans._n(
    'Usage on %1 day; highest: %2',
    'Usage on %1 days; highest: %2',
    used.length,
    barText(highest, measure, trans)
  );
}

function barText(
  bar: IBar,
  measure: Measure,
  trans: TranslationBundle
): string {
  return trans.__('%1: %2', visible(bar.key), amountText(bar, measure, trans));
}

/** The amount of a bar in words, with the unknown part. */
export function amountText(
  { value, unknown }: IBar,
  measure: Measure,
  trans: TranslationBundle
): string {
  const known = value === null ? '' : valueText(value, measure);
  if (unknown === 0) {
    return known === '' ? trans.__('unknown') : known;
  }
  const more = trans._n(
    '%1 call of unknown cost',
    '%1 calls of unknown cost',
    unknown
  );
  return known === '' || value === 0
    ? more
    : trans.__('%1 and %2', known, more);
}

function valueText(value: number, measure: Measure): string {
  return measure === 'cost'
    ? formatMoney(value)
    : formatTokens(Number(value.toFixed(1)));
}

function dayName(day: string): string {
  return new Date(`${day}T12:00:00`).toLocaleDateString([], {
    day: 'numeric',
    month: 'short'
  });
}
