/**
 * Two strokes of the same key, quickly: `++`. Pure; used by the extension of every editor (`doublePlusTrigger.ts`), so
 * it loads with the lab.
 */

/** The second stroke comes within this time of the first, in ms (chapter 10). */
export const DOUBLE_MS = 300;

/** A `+` that was typed. */
export interface IStroke {
  /** Offset behind it. */
  readonly end: number;
  /** When its key went down, in ms of any clock that both strokes share. */
  readonly time: number;
}

/** Whether a `+` typed at an offset is the second one. */
export function isDoubleStroke(
  first: IStroke | null,
  at: number,
  time: number
): boolean {
  return first?.end === at && time - first.time <= DOUBLE_MS;
}
