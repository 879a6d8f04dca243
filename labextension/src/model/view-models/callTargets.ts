/** The documents and cells that calls name in their arguments and results. Pure. */

import type { CallView, Json } from '../../wire/generated';
import { serverToolOf } from './toolOwners';

/** The position of a cell as a call named it. */
export interface ICellLocation {
  readonly path: string;
  readonly cellId: string;
  /** Starts at 1. */
  readonly number: number;
}

/** Calls that renumber other cells. */
const RENUMBERS = /^(add_cell|delete_cell|move_cell|run_plan|undo_)/;

/** The path of a call's document or folder; the new one after a move. */
export function pathOf(call: CallView): string | null {
  if (serverToolOf(call.tool) !== null) {
    return null; // Paths of MCP servers are not ours.
  }
  const data = objectOf(call.result?.data);
  const given = objectOf(call.arguments);
  return stringOf(data.new_path) ?? stringOf(data.path) ?? stringOf(given.path);
}

/** The cell of a call. */
export function cellOf(call: CallView): string | null {
  if (serverToolOf(call.tool) !== null) {
    return null;
  }
  return (
    stringOf(objectOf(call.result?.data).cell_id) ??
    stringOf(objectOf(call.arguments).cell_id)
  );
}

/** The cell whose outputs a call returned: the last one of several runs. */
export function outputCellOf(call: CallView): string | null {
  const rows = rowsOf(objectOf(call.result?.data).cells);
  return cellOf(call) ?? stringOf(rows.at(-1)?.cell_id);
}

/** The cell numbers that a call reports. */
export function cellLocationsOf(call: CallView): ICellLocation[] {
  const path = pathOf(call);
  const data = objectOf(call.result?.data);
  return path === null
    ? []
    : [data, ...rowsOf(data.cells)].flatMap(({ cell_id, index }) =>
        typeof cell_id === 'string' && typeof index === 'number'
          ? [{ path, cellId: cell_id, number: index + 1 }]
          : []
      );
}

/** Whether a call may have renumbered cells. */
export function renumbersCells({ tool, state }: CallView): boolean {
  return state === 'ok' && RENUMBERS.test(tool);
}

/** Calls about folders or deleted files. */
const NO_FILE = /^(list_files|search_content|git_|delete_|run_command)/;

/** Whether the file of a call can be opened. */
export function canOpenTarget({ tool, result, state }: CallView): boolean {
  const isGone = result?.error?.code === 'not_found';
  return !NO_FILE.test(tool) && !isGone && state !== 'denied';
}

export function isNotebook(path: string): boolean {
  return path.endsWith('.ipynb');
}

type Values = Readonly<Record<string, Json>>;
const NOTHING: Values = {};

function objectOf(value: Json | undefined): Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? value
    : NOTHING;
}

function rowsOf(value: Json | undefined): Values[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

function stringOf(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
