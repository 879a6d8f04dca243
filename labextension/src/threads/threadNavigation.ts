/** The way from thread to thread through a document. Pure; used by the threads of the page. */

import type { IThreadMark } from './marks/markAppearance';

/** Where the user is: a cell, from 1, and an offset in its text; null in a file, and where no text has the cursor. */
export interface IWhere {
  readonly number: number | null;
  readonly offset: number | null;
}

/**
 * The next thread, or the one before, of those of a document in the order of its text; after the last comes the first.
 * `last` is the one gone to before, where the user still is.
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

/** The threads whose text the cursor is in; else those of its cell; of a file, those of its line. */
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

/** Whether a thread begins after where the user is; one of a whole cell begins with it. */
function isAfter({ place }: IThreadMark, where: IWhere): boolean {
  const cell = place.number ?? 0;
  const here = where.number ?? 0;
  const from = place.anchor.range?.from ?? -1;
  return cell > here || (cell === here && from > (where.offset ?? -1));
}
