/** Requests about the agent's database. */

import type { IHttpClient } from '../client/http';
import type { AgentDatabase, DatabasePage, Settings } from '../wire/generated';

/** Rows of a page. */
export const PAGE_ROWS = 100;

/** The order of a table: by a column, or as stored. */
export interface IOrder {
  readonly column: string;
  readonly descending: boolean;
}

export type ExportForm = 'csv' | 'parquet';

/** The routes of the view. */
export interface IDatabaseApi {
  tables(): Promise<AgentDatabase>;
  page(
    table: string,
    offset: number,
    order: IOrder | null
  ): Promise<DatabasePage>;
  exported(table: string, form: ExportForm): Promise<Blob>;
  switchOn(): Promise<Settings>;
}

export function databaseApi(http: IHttpClient): IDatabaseApi {
  const path = (table: string): string =>
    `agent-database/tables/${encodeURIComponent(table)}`;
  return {
    tables: () => http.call('GET', 'agent-database'),
    page: (table, offset, order) => {
      const query = new URLSearchParams({
        offset: String(offset),
        limit: String(PAGE_ROWS)
      });
      if (order !== null) {
        query.set('order', order.column);
        query.set('descending', String(order.descending));
      }
      return http.call('GET', `${path(table)}?${query}`);
    },
    exported: async (table, form) => {
      const found = await http.open(`${path(table)}/export?format=${form}`, {
        method: 'GET'
      });
      return found.blob();
    },
    switchOn: () =>
      http.call('PUT', 'settings?scope=workspace', {
        agent_database: { enabled: true }
      })
  };
}
