/** What changed in a list of cells since the server was told about it. Pure; `live/cell_lists.py` is the other side. */

import type { CellOrder } from '../../wire/generated';
import { listVersion } from '../../wire/versions';

interface ICell {
  id: string;
  version: string;
}

/** The new and the changed cells. Without an order they are the whole list. */
export interface ICellChanges<Cell extends ICell> {
  order: CellOrder | null;
  cells: Cell[];
}

/** The changes from `before` to `now`; the whole list if there is nothing before, or if ids occur twice. */
export function cellChanges<Cell extends ICell>(
  before: readonly Cell[] | null,
  now: readonly Cell[],
  isSame: (one: Cell, other: Cell) => boolean
): ICellChanges<Cell> {
  const known = new Map(before?.map(cell => [cell.id, cell]));
  const isUnique = new Set(now.map(({ id }) => id)).size === now.length;
  if (known.size !== before?.length || !isUnique) {
    return { order: null, cells: [...now] };
  }
  const cells = now.filter(cell => {
    const earlier = known.get(cell.id);
    return earlier === undefined || !isSame(earlier, cell);
  });
  return { order: orderOf(before, now), cells };
}

/** The shortest stretch of the list that has other cells now. */
function orderOf(before: readonly ICell[], now: readonly ICell[]): CellOrder {
  const shorter = Math.min(before.length, now.length);
  let start = 0;
  while (start < shorter && before[start]?.id === now[start]?.id) {
    start += 1;
  }
  let kept = 0;
  while (
    kept < shorter - start &&
    before.at(-1 - kept)?.id === now.at(-1 - kept)?.id
  ) {
    kept += 1;
  }
  return {
    start,
    removed: before.length - start - kept,
    ids: now.slice(start, now.length - kept).map(({ id }) => id),
    list_version: listVersion(now)
  };
}
