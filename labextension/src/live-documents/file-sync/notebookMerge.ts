/**
 * Merges a notebook file written by others into the open notebook, cell by cell. Changes of one side are taken; texts
 * changed by both are merged by lines, or kept twice when both changed the same lines. Pure; used by
 * `NotebookFileSync`.
 */

import { JSONExt, type ReadonlyPartialJSONValue } from '@lumino/coreutils';

import type { CellEdit } from '../../wire/generated';
import { cellVersion } from '../../wire/versions';
import type { FileBaseline, MergeCell } from './fileBaseline';
import type { JsonObject } from '../notebooks/cellConversion';
import { mergeText } from '../../text/merge';

/** The edits that merge the file. */
export interface IMerge {
  edits: CellEdit[];
  /** Metadata changed only in the file, by cell. */
  metadata: Map<string, JsonObject>;
  /** The file's version of cells in which both sides changed the same lines. */
  conflicts: MergeCell[];
  /** Whether the open notebook has changes that the file lacks. */
  hasLocalChanges: boolean;
}

/** Merge `theirs`, the file, into `mine`, the page; `touched` are cells with new outputs here. */
export function merge(
  base: FileBaseline,
  mine: readonly MergeCell[],
  theirs: readonly MergeCell[],
  touched: ReadonlySet<string>
): IMerge {
  const merged: IMerge = {
    edits: [],
    metadata: new Map(),
    conflicts: [],
    hasLocalChanges: false
  };
  const own = new Map(mine.map(cell => [cell.cell_id, cell]));
  const others = new Map(theirs.map(cell => [cell.cell_id, cell]));
  for (const cell of mine) {
    if (!others.has(cell.cell_id)) {
      mergeRemoved(merged, cell, base, touched);
    }
  }
  // Order first: each inserted cell then goes behind the cell it follows in the file.
  mergeOrder(merged, base, [...own.keys()], [...others.keys()]);
  let after: string | null = null;
  for (const cell of theirs) {
    const here = own.get(cell.cell_id);
    if (here !== undefined && isRecast(here, cell, base, touched)) {
      merged.edits.push({ kind: 'cell-delete', cell_id: cell.cell_id });
      merged.edits.push({ ...cell, after });
    } else if (here !== undefined) {
      merged.hasLocalChanges ||= !equal(kindOf(here), kindOf(cell));
      mergeSource(merged, here, cell, base);
      mergeOutputs(merged, here, cell, touched);
      mergeMetadata(merged, here, cell, base);
    } else if (base.get(cell.cell_id)?.version === cellVersion(cell.source)) {
      merged.hasLocalChanges = true; // Deleted here.
      continue;
    } else {
      merged.edits.push({ ...cell, after });
    }
    after = cell.cell_id;
  }
  return merged;
}

/** A cell that the file lacks: deleted there, or new here. */
function mergeRemoved(
  merged: IMerge,
  cell: MergeCell,
  base: FileBaseline,
  touched: ReadonlySet<string>
): void {
  const { cell_id } = cell;
  if (
    base.get(cell_id)?.version === cellVersion(cell.source) &&
    !touched.has(cell_id)
  ) {
    merged.edits.push({ kind: 'cell-delete', cell_id });
  } else {
    merged.hasLocalChanges = true;
  }
}

/** Whether only the file changed the cell's type or attachments: the cell is then inserted again. */
function isRecast(
  here: MergeCell,
  there: MergeCell,
  base: FileBaseline,
  touched: ReadonlySet<string>
): boolean {
  const before = base.get(here.cell_id);
  return (
    before !== undefined &&
    !equal(kindOf(here), kindOf(there)) &&
    equal(kindOf(here), kindOf(before)) &&
    here.source === before.source &&
    !touched.has(here.cell_id)
  );
}

function kindOf(
  cell: Pick<MergeCell, 'cell_type' | 'attachments'>
): readonly unknown[] {
  return [cell.cell_type, cell.attachments ?? {}];
}

/** The merged metadata of the notebook; null when the page changed them and keeps its own. */
export function mergeNotebookMetadata(
  base: JsonObject,
  mine: JsonObject,
  theirs: JsonObject
): JsonObject | null {
  return equal(mine, base) || equal(mine, theirs) ? theirs : null;
}

function mergeSource(
  merged: IMerge,
  here: MergeCell,
  there: MergeCell,
  base: FileBaseline
): void {
  const { cell_id, source } = there;
  if (here.source === source) {
    return;
  }
  const before = base.get(cell_id)?.source;
  if (before === here.source) {
    merged.edits.push({ kind: 'cell-source', cell_id, source });
    return;
  }
  merged.hasLocalChanges = true;
  const both =
    before === undefined ? null : mergeText(before, here.source, source);
  if (both === null) {
    merged.conflicts.push(there);
  } else if (both !== here.source) {
    merged.edits.push({ kind: 'cell-source', cell_id, source: both });
  }
}

function mergeOutputs(
  merged: IMerge,
  here: MergeCell,
  there: MergeCell,
  touched: ReadonlySet<string>
): void {
  const { cell_id, outputs, execution_count } = there;
  const isCode = here.cell_type === 'code' && there.cell_type === 'code';
  const isSame =
    here.execution_count === execution_count && equal(here.outputs, outputs);
  if (!isCode || isSame) {
    return;
  }
  if (touched.has(cell_id)) {
    merged.hasLocalChanges = true;
  } else {
    merged.edits.push({
      kind: 'cell-outputs',
      cell_id,
      outputs,
      execution_count
    });
  }
}

function mergeMetadata(
  merged: IMerge,
  here: MergeCell,
  there: MergeCell,
  base: FileBaseline
): void {
  const [mine, theirs] = [untrusted(here.metadata), untrusted(there.metadata)];
  const before = base.get(there.cell_id)?.metadata;
  if (equal(mine, theirs)) {
    return;
  }
  if (before !== undefined && equal(mine, untrusted(before))) {
    merged.metadata.set(there.cell_id, theirs);
  } else {
    merged.hasLocalChanges = true;
  }
}

/** The server marks trusted cells in its answer; the file lacks that mark. */
function untrusted(metadata: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(metadata).filter(([name]) => name !== 'trusted')
  );
}

/** Take the file's order unless cells were moved here. */
function mergeOrder(
  merged: IMerge,
  base: FileBaseline,
  mine: readonly string[],
  theirs: readonly string[]
): void {
  const others = new Set(theirs);
  const common = new Set(mine.filter(id => others.has(id)));
  const here = mine.filter(id => common.has(id));
  const there = theirs.filter(id => common.has(id));
  const before = [...base.keys()].filter(id => common.has(id));
  if (equal(here, there)) {
    return;
  }
  if (!equal(here, before)) {
    merged.hasLocalChanges = true;
    return;
  }
  const order = [...here];
  there.forEach((cell_id, position) => {
    if (order[position] !== cell_id) {
      // A moved cell becomes a new widget: cells in the right position stay.
      order.splice(order.indexOf(cell_id), 1);
      order.splice(position, 0, cell_id);
      const after = there[position - 1] ?? null;
      merged.edits.push({ kind: 'cell-move', cell_id, after });
    }
  });
}

function equal(one: unknown, other: unknown): boolean {
  // Outputs and ids are JSON.
  return JSONExt.deepEqual(
    one as ReadonlyPartialJSONValue,
    other as ReadonlyPartialJSONValue
  );
}
