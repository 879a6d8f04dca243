/** A notebook's cells when the page last read or wrote its file: the base of a merge. Used by `NotebookFileSync`. */

import { cellVersion } from '../../wire/versions';
import type { CellInsert } from '../../wire/generated';
import type { JsonObject } from '../notebooks/cellConversion';

/** A complete cell; its position follows from the list it is in. */
export type MergeCell = CellInsert;

/** A cell as the page last read or wrote it. */
export interface IBaselineCell {
  version: string;
  cell_type: MergeCell['cell_type'];
  source: string;
  metadata: JsonObject;
  attachments: JsonObject | null;
}

/** The notebook as the page last read or wrote the file, in order. */
export type FileBaseline = ReadonlyMap<string, IBaselineCell>;

/** The baseline made of a list of cells. */
export function fileBaselineOf(
  cells: Iterable<
    Pick<MergeCell, 'cell_id' | Exclude<keyof IBaselineCell, 'version'>>
  >
): FileBaseline {
  const base = new Map<string, IBaselineCell>();
  for (const { cell_id, source, ...rest } of cells) {
    const { cell_type, metadata, attachments } = rest;
    const version = cellVersion(source);
    base.set(cell_id, { version, cell_type, source, metadata, attachments });
  }
  return base;
}
