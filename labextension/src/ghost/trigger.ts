/**
 * When `++` asks for suggestions: two strokes of the same key, quickly, where nobody means them. Pure; used by the
 * extension of every editor (`plusPlus.ts`), so it loads with the lab.
 */

/** The second stroke comes within this time of the first, in ms (chapter 10). */
export const DOUBLE_MS = 300;

/** A `+` that was typed: where it stands now, and when its key went down. */
export interface IStroke {
  /** Offset behind it. */
  readonly end: number;
  /** In ms, of any clock that both strokes share. */
  readonly time: number;
}

/** Whether a `+` typed at an offset is the second one. */
export function isSecond(
  first: IStroke | null,
  at: number,
  time: number
): boolean {
  return first?.end === at && time - first.time <= DOUBLE_MS;
}

/** What is known of the text that `++` is typed into. */
export interface ISurroundings {
  /** In lower case; empty when it is not known. */
  readonly language: string;
  /** Whether it stands in a comment or a string. */
  readonly isQuoted: boolean;
  /** The character before the first `+`; empty at the start of the text. */
  readonly before: string;
}

/** Languages to be read by people: `C++` is a word there. */
const PROSE: ReadonlySet<string> = new Set([
  ...['none', 'markdown', 'ipythongfm', 'restructuredtext', 'rst'],
  ...['latex', 'tex', 'stex']
]);

/** Whether `++` means itself: in prose, in languages that have it, in a word such as `C++` of a comment. */
export function isTypedAsIs(
  { language, isQuoted, before }: ISurroundings,
  skipped: readonly string[]
): boolean {
  return (
    PROSE.has(language) ||
    skipped.includes(language) ||
    (isQuoted && /[\p{L}\p{N}_+]/u.test(before))
  );
}
