/** One table of the agent's database: pages of rows, sorting, its definition, and exports. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { useAction, useTrans } from '../ui/hooks';
import { Button, ErrorNote } from '../ui/primitives';
import { visible } from '../text/hiddenCharacters';
import type { DatabasePage, DatabaseTable } from '../wire/generated';
import { PAGE_ROWS, type IDatabaseApi, type IOrder } from './api';
import { cellText, type Cell } from './cellText';
import type { IDatabaseHost } from './databaseHost';
import { useRenewedAnswer } from './useRenewedAnswer';

export function TableView(props: {
  table: DatabaseTable;
  api: IDatabaseApi;
  host: IDatabaseHost;
  /** Counts how often the tables were read; each reads the rows again. */
  reads: number;
}): React.JSX.Element {
  const { table, api, host } = props;
  const { trans } = host;
  const [offset, setOffset] = React.useState(0);
  const [order, setOrder] = React.useState<IOrder | null>(null);
  const key = JSON.stringify([table.name, offset, order, props.reads]);
  const { answer: page, error } = useRenewedAnswer(key, () =>
    api.page(table.name, offset, order)
  );
  const sort = (column: string): void => {
    setOffset(0);
    setOrder(nextOrder(order, column));
  };
  return (
    <section
      className="shoulders-Database-table"
      aria-label={trans.__('Table %1', visible(table.name))}
    >
      <div className="shoulders-Database-bar">
        <h3>{visible(table.name)}</h3>
        <Exports {...{ table, api, host }} />
      </div>
      {table.problem !== null && <p>{visible(table.problem)}</p>}
      {error !== null && <ErrorNote error={error} />}
      {page !== null && (
        <>
          <Rows page={page} order={order} onSort={sort} name={table.name} />
          <Pager page={page} onOffset={setOffset} />
        </>
      )}
      <details className="shoulders-Database-definition">
        <summary>{trans.__('Definition')}</summary>
        <pre>{visible(table.sql)}</pre>
      </details>
    </section>
  );
}

/** Sort upwards, then downwards, then as stored. */
export function nextOrder(order: IOrder | null, column: string): IOrder | null {
  if (order?.column !== column) {
    return { column, descending: false };
  }
  return order.descending ? null : { column, descending: true };
}

function Rows(props: {
  page: DatabasePage;
  name: string;
  order: IOrder | null;
  onSort: (column: string) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { page, order } = props;
  return (
    <div
      className="shoulders-Table shoulders-Database-rows"
      role="group"
      aria-label={trans.__('Rows of %1', visible(props.name))}
      tabIndex={0}
    >
      <table>
        <thead>
          <tr>
            <th scope="col">#</th>
            {page.columns.map(({ name, type, key }) => (
              <th key={name} scope="col" aria-sort={sortOf(order, name)}>
                <button
                  type="button"
                  className="shoulders-Database-sort"
                  title={trans.__('Sort by %1', visible(name))}
                  onClick={() => props.onSort(name)}
                >
                  <span>{visible(name)}</span>
                  <span aria-hidden="true">{arrowOf(order, name)}</span>
                </button>
                <span className="shoulders-Database-type">
                  {typeText(type, key, trans)}
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {page.rows.map((row, number) => (
            <tr key={number}>
              <th scope="row">{page.offset + number + 1}</th>
              {row.map((cell, column) => (
                <CellView key={column} cell={cell} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function CellView({ cell }: { cell: Cell }): React.JSX.Element {
  const { kind, text, more } = cellText(cell, useTrans());
  return (
    <td data-kind={kind} title={more}>
      <span dir="auto">{text}</span>
    </td>
  );
}

function sortOf(
  order: IOrder | null,
  column: string
): 'ascending' | 'descending' | 'none' {
  if (order?.column !== column) {
    return 'none';
  }
  return order.descending ? 'descending' : 'ascending';
}

function arrowOf(order: IOrder | null, column: string): string {
  return { ascending: '▲', descending: '▼', none: '' }[sortOf(order, column)];
}

function typeText(
  type: string,
  isKey: boolean,
  trans: TranslationBundle
): string {
  const words = [visible(type), isKey ? trans.__('key') : ''];
  return words.filter(word => word !== '').join(', ');
}

function Pager(props: {
  page: DatabasePage;
  onOffset: (offset: number) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { offset, rows, total } = props.page;
  const end = offset + rows.length;
  return (
    <div className="shoulders-Database-pager">
      <span role="status">
        {total === 0
          ? trans.__('No rows')
          : trans.__('Rows %1 to %2 of %3', offset + 1, end, total)}
      </span>
      <Button
        disabled={offset === 0}
        onClick={() => props.onOffset(Math.max(offset - PAGE_ROWS, 0))}
      >
        {trans.__('Previous')}
      </Button>
      <Button
        disabled={end >= total || rows.length === 0}
        onClick={() => props.onOffset(end)}
      >
        {trans.__('Next')}
      </Button>
    </div>
  );
}

function Exports(props: {
  table: DatabaseTable;
  api: IDatabaseApi;
  host: IDatabaseHost;
}): React.JSX.Element {
  const trans = useTrans();
  const { name } = props.table;
  const { busy, error, run } = useAction();
  const forms = [
    ['csv', trans.__('Export CSV')],
    ['parquet', trans.__('Export Parquet')]
  ] as const;
  return (
    <>
      <div className="shoulders-Actions">
        {forms.map(([form, label]) => (
          <Button
            key={form}
            disabled={busy}
            onClick={() =>
              run(async () => {
                const content = await props.api.exported(name, form);
                props.host.save(`${name}.${form}`, content);
              })
            }
          >
            {label}
          </Button>
        ))}
      </div>
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}
