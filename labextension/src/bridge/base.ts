/** What a notebook was when the page last read or wrote its file: what a merge starts from. Used by `FileWatch`. */

import { cellVersion } from '../wire/versions';
import type { CellInsert } from '../wire/generated';
import type { JsonObject } from './cells';

/** A cell with all it has; where it stands follows from the list it is in. */
export type MergeCell = CellInsert;

/** A cell as the page last read or wrote it. */
export interface IBaseCell {
  version: string;
  cell_type: MergeCell['cell_type'];
  source: string;
  metadata: JsonObject;
  attachments: JsonObject | null;
}

/** The notebook as the page last read or wrote the file, in order. */
export type Base = ReadonlyMap<string, IBaseCell>;

/** The base that a list of cells is. */
export function baseOf(
  cells: Iterable<
    Pick<MergeCell, 'cell_id' | Exclude<keyof IBaseCell, 'version'>>
  >
): Base {
  const base = new Map<string, IBaseCell>();
  for (const { cell_id, source, ...rest } of cells) {
    const { cell_type, metadata, attachments } = rest;
    const version = cellVersion(source);
    base.set(cell_id, { version, cell_type, source, metadata, attachments });
  }
  return base;
}
