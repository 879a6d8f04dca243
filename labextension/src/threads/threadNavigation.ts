/**
 * Navigation between the threads of a document. Pure; used by
 * `ThreadsController`.
 */

import type { IThreadMark } from './marks/markAppearance';

/**
 * The cursor: a cell, from 1, and an offset in its text; null in a file, and
 * when no text has the cursor.
 */
export interface IWhere {
  readonly number: number | null;
  readonly offset: number | null;
}

/**
 * The next or previous thread in text order; wraps around. `last` is the thread
 * of the last navigation if the cursor is still there.
 */
export function stepFrom(
  marks: readonly IThreadMark[],
  where: IWhere,
  last: string | null,
  by: 1 | -1
): IThreadMark | null {
  if (marks.length === 0) {
    return null;
  }
  const held = marks.findIndex(({ place }) => place.sessionId === last);
  if (held >= 0 && isThere(marks[held], where)) {
    return marks.at((held + by) % marks.length) ?? null;
  }
  const after = marks.findIndex(mark => isAfter(mark, where));
  const next = after < 0 ? marks.length : after;
  return marks.at((by > 0 ? next : next - 1) % marks.length) ?? null;
}

/**
 * The threads whose text contains the cursor; else those of its cell, or of its
 * line in a file.
 */
export function threadsAt(
  marks: readonly IThreadMark[],
  where: IWhere,
  line: number | null
): readonly IThreadMark[] {
  const own = marks.filter(({ place }) => place.number === where.number);
  const inText = own.filter(mark => isInside(mark, where));
  if (inText.length > 0) {
    return inText;
  }
  const inLine = own.filter(({ place }) => place.line === line);
  return inLine.length > 0 || where.number === null ? inLine : own;
}

function isThere(mark: IThreadMark | undefined, where: IWhere): boolean {
  return (
    mark?.place.number === where.number &&
    (mark.place.anchor.range === null || isInside(mark, where))
  );
}

function isInside({ place }: IThreadMark, { offset }: IWhere): boolean {
  const { range } = place.anchor;
  return (
    range !== null &&
    offset !== null &&
    range.from <= offset &&
    offset <= range.to
  );
}

/**
 * Whether a thread begins after the cursor; a thread about a whole cell begins
 * with the cell.
 */
function isAfter({ place }: IThreadMark, where: IWhere): boolean {
  const cell = place.number ?? 0;
  const here = where.number ?? 0;
  const from = place.anchor.range?.from ?? -1;
  return cell > here || (cell === here && from > (where.offset ?? -1));
}
