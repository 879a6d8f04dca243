/** The change list at the end of a turn: one row per cell or file. Pure; used by its views. */

import type { ChangeView, PendingEdit } from '../../wire/generated';
import { countChanges, diffLines, type IDiffLine } from '../../text/diff';

type Kind = ChangeView['what'];

/**
 * State of a change. `pending` can be decided; `lost` is pending, but its stored text cannot be read; `later` was
 * changed by a later turn, which has the decision; for `gone` nothing is left to decide.
 */
export type ChangeStatus =
  'pending' | 'lost' | 'later' | 'gone' | 'kept' | 'undone' | 'done';

/** One cell or file. */
export interface IChangeRow {
  readonly key: string;
  readonly change: ChangeView;
  /** What was done to it, by all turns together while it is pending. */
  readonly kind: Kind;
  readonly status: ChangeStatus;
  /** The edit to decide, if any. */
  readonly edit: PendingEdit | null;
}

/** The rows of one document: a notebook's cells, or a file. */
export interface IChangeGroup {
  readonly document: string;
  readonly isNotebook: boolean;
  readonly rows: readonly IChangeRow[];
}

/** Last known cell positions, by edit. */
export type CellPositions = ReadonlyMap<string, number>;

/** The known positions, updated with these edits. */
export function updatePositions(
  places: CellPositions,
  edits: readonly PendingEdit[]
): CellPositions {
  const more = edits.flatMap(({ id, position }): [string, number][] =>
    position === null ? [] : [[id, position]]
  );
  return new Map([...places, ...more]);
}

/** The changes of a turn, in notebook order where known. A decided row keeps its position. */
export function rowsOf(
  changes: readonly ChangeView[],
  turnId: string | null,
  edits: readonly PendingEdit[],
  places: CellPositions = updatePositions(new Map(), edits)
): IChangeRow[] {
  const pending = new Map(edits.map(edit => [edit.id, edit]));
  const rows = changes
    .filter(change => change.turn_id === turnId)
    .map((change): IChangeRow => {
      const edit = pending.get(change.edit_id ?? '') ?? null;
      const status = statusOf(change, changes, edit);
      const decidable = status === 'pending' || status === 'lost';
      return {
        key: change.edit_id ?? `${change.what} ${change.cell_id ?? ''}`,
        change,
        kind: status === 'pending' ? kindOf(edit, change.what) : change.what,
        status,
        edit: decidable ? edit : null
      };
    });
  const placeOf = ({ change }: IChangeRow): number =>
    places.get(change.edit_id ?? '') ?? Number.MAX_SAFE_INTEGER;
  return rows.sort((one, other) => placeOf(one) - placeOf(other));
}

function statusOf(
  change: ChangeView,
  changes: readonly ChangeView[],
  edit: PendingEdit | null
): ChangeStatus {
  const { state, by, edit_id } = change;
  if (state !== 'pending') {
    // The server keeps an edit itself when another conversation or a renamed file replaces it.
    return state === 'kept' && by !== 'user' ? 'later' : state;
  }
  const last = changes.filter(other => other.edit_id === edit_id).at(-1);
  if (last !== change) {
    return 'later';
  }
  if (edit === null) {
    return 'gone';
  }
  return edit.baseline === null && edit.current === null ? 'lost' : 'pending';
}

function kindOf(edit: PendingEdit | null, what: Kind): Kind {
  if (edit === null) {
    return what;
  }
  if (edit.current === null) {
    return 'deleted';
  }
  return edit.baseline === null ? 'made' : 'edited';
}

/** The rows by document, in the order of their first change. */
export function groupsOf(rows: readonly IChangeRow[]): IChangeGroup[] {
  const groups = new Map<string, IChangeRow[]>();
  for (const row of rows) {
    const { document } = row.change;
    groups.set(document, [...(groups.get(document) ?? []), row]);
  }
  return [...groups].map(([document, of]) => ({
    document,
    isNotebook: of.some(({ change }) => change.cell_id !== null),
    rows: of
  }));
}

/** The edits that can be decided together. */
export function decidable(rows: readonly IChangeRow[]): PendingEdit[] {
  return rows.flatMap(({ edit, status }) =>
    edit !== null && status === 'pending' ? [edit] : []
  );
}

/** The server's count of hunks in an edit, used when no editor counts them. */
export function hunksOf({ hunks }: PendingEdit): number {
  return Math.max(1, hunks.length);
}

/** How many cells and files the rows cover. */
export function extentOf(rows: readonly IChangeRow[]): {
  cells: number;
  files: number;
} {
  const cells = rows.filter(({ change }) => change.cell_id !== null).length;
  return { cells, files: rows.length - cells };
}

/** The difference an edit makes; for created or deleted text, the text itself. */
export function linesOf({ baseline, current }: PendingEdit): IDiffLine[] {
  const [old = '', now = ''] = withoutEnd(baseline, current);
  return diffLines(old, now);
}

/** A trailing newline is not an extra line. */
function withoutEnd(...texts: readonly (string | null)[]): string[] {
  const all = texts.every(text => text?.endsWith('\n') ?? true);
  return texts.map(text => (all ? text?.slice(0, -1) : text) ?? '');
}

/** Lines added and removed. */
export function sizeOf(edit: PendingEdit): { added: number; removed: number } {
  return countChanges(linesOf(edit));
}
