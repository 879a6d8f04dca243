/** Navigation between the threads of a document. Pure; used by `ThreadsController`. */

import type { IThreadMark } from './marks/markAppearance';

/** The cursor: a cell, from 1, and an offset in its text; null in a file, and when no text has the cursor. */
export interface ICursorPosition {
  readonly number: number | null;
  readonly offset: number | null;
}

/**
 * The next or previous thread in text order; wraps around. `last` is the thread of the last navigation if the cursor
 * is still there.
 */
export function stepFrom(
  marks: readonly IThreadMark[],
  where: ICursorPosition,
  last: string | null,
  by: 1 | -1
): IThreadMark | null {
  if (marks.length === 0) {
    return null;
  }
  const held = marks.findIndex(({ location }) => location.sessionId === last);
  if (held >= 0 && isAtThread(marks[held], where)) {
    return marks.at((held + by) % marks.length) ?? null;
  }
  const after = marks.findIndex(mark => isAfter(mark, where));
  const next = after < 0 ? marks.length : after;
  return marks.at((by > 0 ? next : next - 1) % marks.length) ?? null;
}

/** The threads whose text contains the cursor; else those of its cell, or of its line in a file. */
export function threadsAt(
  marks: readonly IThreadMark[],
  where: ICursorPosition,
  line: number | null
): readonly IThreadMark[] {
  const own = marks.filter(({ location }) => location.number === where.number);
  const inText = own.filter(mark => isInside(mark, where));
  if (inText.length > 0) {
    return inText;
  }
  const inLine = own.filter(({ location: place }) => place.line === line);
  return inLine.length > 0 || where.number === null ? inLine : own;
}

function isAtThread(
  mark: IThreadMark | undefined,
  where: ICursorPosition
): boolean {
  return (
    mark?.location.number === where.number &&
    (mark.location.anchor.range === null || isInside(mark, where))
  );
}

function isInside(
  { location }: IThreadMark,
  { offset }: ICursorPosition
): boolean {
  const { range } = location.anchor;
  return (
    range !== null &&
    offset !== null &&
    range.from <= offset &&
    offset <= range.to
  );
}

/** Whether a thread begins after the cursor; a thread about a whole cell begins with the cell. */
function isAfter({ location }: IThreadMark, where: ICursorPosition): boolean {
  const cell = location.number ?? 0;
  const here = where.number ?? 0;
  const from = location.anchor.range?.from ?? -1;
  return cell > here || (cell === here && from > (where.offset ?? -1));
}
