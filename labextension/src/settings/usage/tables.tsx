/** Usage as tables: the numbers of the charts, and the success of tools. */

import * as React from 'react';

import { useTrans } from '../../ui/hooks';
import {
  formatDuration,
  formatMoney,
  formatTokens
} from '../../text/numberFormat';
import { visible } from '../../text/hiddenCharacters';
import type { FailureCount, ToolUsage, UsageRow } from '../../wire/generated';
import { wholePercent } from './series';

/** A table that may be wider than the page; it can be scrolled by keyboard. */
function Scrolled(props: {
  label: string;
  children: React.ReactNode;
}): React.JSX.Element {
  return (
    <div
      className="shoulders-Table"
      role="group"
      aria-label={props.label}
      tabIndex={0}
    >
      {props.children}
    </div>
  );
}

/** Rows of days or models. */
export function RowsTable(props: {
  rows: readonly UsageRow[];
  /** Title of the first column. */
  firstColumn: string;
}): React.JSX.Element {
  const trans = useTrans();
  return (
    <Scrolled label={props.firstColumn}>
      <table>
        <thead>
          <tr>
            <th scope="col">{props.firstColumn}</th>
            <th scope="col">{trans.__('Cost')}</th>
            <th scope="col">{trans.__('Calls')}</th>
            <th scope="col">{trans.__('Answered')}</th>
            <th scope="col">{trans.__('Tokens read')}</th>
            <th scope="col">{trans.__('Tokens written')}</th>
          </tr>
        </thead>
        <tbody>
          {props.rows.map(row => (
            <tr key={`${row.provider ?? ''}:${row.key ?? ''}`}>
              <th scope="row">{visible(row.key ?? '')}</th>
              <td>
                <Cost row={row} />
              </td>
              <td>{row.calls}</td>
              <td>{percent(row.success_rate)}</td>
              <td>{formatTokens(row.input_tokens)}</td>
              <td>{formatTokens(row.output_tokens)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolled>
  );
}

function Cost({ row }: { row: UsageRow }): React.JSX.Element {
  const trans = useTrans();
  const { known_cost_micro_usd: known, unknown_cost_calls: unknown } = row;
  const words =
    unknown === 0 ? '' : trans._n('%1 unknown', '%1 unknown', unknown);
  return (
    <>
      {[known === null ? '' : formatMoney(known), words]
        .filter(part => part !== '')
        .join(' + ')}
    </>
  );
}

/** Calls and failures per tool. */
export function ToolsTable(props: {
  tools: readonly ToolUsage[];
}): React.JSX.Element {
  const trans = useTrans();
  return props.tools.length === 0 ? (
    <p className="shoulders-Settings-note">{trans.__('No tools used.')}</p>
  ) : (
    <Scrolled label={trans.__('Tools')}>
      <table>
        <thead>
          <tr>
            <th scope="col">{trans.__('Tool')}</th>
            <th scope="col">{trans.__('Calls')}</th>
            <th scope="col">{trans.__('Succeeded')}</th>
            <th scope="col">{trans.__('Refused')}</th>
            <th scope="col">{trans.__('Not run')}</th>
            <th scope="col">{trans.__('Median')}</th>
            <th scope="col">{trans.__('Slowest 5 %')}</th>
          </tr>
        </thead>
        <tbody>
          {props.tools.map(tool => (
            <tr key={tool.tool}>
              <th scope="row">
                <code>{visible(tool.tool)}</code>
              </th>
              <td>{tool.calls}</td>
              <td>{percent(tool.success_rate)}</td>
              <td>{tool.denied}</td>
              <td>{tool.not_run - tool.denied}</td>
              <td>{durationText(tool.median_ms)}</td>
              <td>{durationText(tool.p95_ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolled>
  );
}

/** Errors of turns and calls, the most frequent first. */
export function FailuresTable(props: {
  failures: readonly FailureCount[];
}): React.JSX.Element {
  const trans = useTrans();
  return (
    <Scrolled label={trans.__('Failures')}>
      <table>
        <thead>
          <tr>
            <th scope="col">{trans.__('Error')}</th>
            <th scope="col" className="shoulders-Table-text">
              {trans.__('Tool')}
            </th>
            <th scope="col">{trans.__('Count')}</th>
          </tr>
        </thead>
        <tbody>
          {props.failures.map(({ code, tool, count }) => (
            <tr key={`${code}:${tool ?? ''}`}>
              <th scope="row">
                <code>{visible(code)}</code>
              </th>
              <td className="shoulders-Table-text">
                {tool === null ? (
                  trans.__('whole turn')
                ) : (
                  <code>{visible(tool)}</code>
                )}
              </td>
              <td>{count}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolled>
  );
}

function percent(rate: number | null): string {
  return rate === null ? '' : `${wholePercent(rate)} %`;
}

/** A duration, in milliseconds below a second; empty if unknown. */
export function durationText(ms: number | null): string {
  return ms === null
    ? ''
    : ms < 1000
      ? `${Math.round(ms)} ms`
      : formatDuration(ms);
}
