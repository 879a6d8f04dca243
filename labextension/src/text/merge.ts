/**
 * Three-way merge of texts by lines. Pure; used by `notebookMerge` for files, `recovery` for recovered text, and text
 * files.
 */

import { Chunk } from '@codemirror/merge';
import { Text } from '@codemirror/state';

import { textChanges, type ITextChange } from './edits';

/** The text with both changes of `base`; null when both changed the same lines differently. */
export function mergeText(
  base: string,
  mine: string,
  theirs: string
): string | null {
  if (mine === theirs || theirs === base) {
    return mine;
  }
  if (mine === base) {
    return theirs;
  }
  const merged = mergeLines(base, mine, theirs);
  if (merged !== null) {
    return merged;
  }
  const common = same(textChanges(base, mine), textChanges(base, theirs));
  return common.length > 0
    ? mergeLines(replaced(base, common), mine, theirs)
    : null;
}

/** Like `mergeText`, but merges lines changed by both word by word. */
export function mergeWords(
  base: string,
  mine: string,
  theirs: string
): string | null {
  return mergeText(base, mine, theirs) ?? mergeLines(base, mine, theirs, words);
}

/** Both changes merged; where both changed the same lines, those of `preferProposal`. */
export function mergePreferring(
  base: string,
  mine: string,
  preferred: string
): string {
  const take: Resolve = (_base, _mine, theirs) => theirs;
  return mergeLines(base, mine, preferred, take) ?? mine;
}

/** Merges a piece changed on both sides; null when it cannot. */
type Resolve = (base: string, mine: string, theirs: string) => string | null;

const nothing: Resolve = () => null;

function mergeLines(
  base: string,
  mine: string,
  theirs: string,
  resolve = nothing
): string | null {
  const own = lineChanges(base, mine);
  const others = lineChanges(base, theirs);
  // The texts were compared with a newline at their end.
  return mergeChanges(`${base}\n`, own, others, resolve)?.slice(0, -1) ?? null;
}

function mergeChanges(
  base: string,
  own: readonly ITextChange[],
  others: readonly ITextChange[],
  resolve: Resolve
): string | null {
  const more = others.filter(
    change => !own.some(other => equal(change, other))
  );
  const merged: ITextChange[] = [];
  for (const group of groupsOf([...own, ...more])) {
    const from = Math.min(...group.map(change => change.from));
    const to = Math.max(...group.map(change => change.to));
    const [only] = group;
    const side = (changes: readonly ITextChange[]): string =>
      replaced(
        base.slice(from, to),
        group
          .filter(change => changes.includes(change))
          .map(change => moved(change, -from))
      );
    const insert =
      group.length === 1 && only !== undefined
        ? only.insert
        : resolve(base.slice(from, to), side(own), side(more));
    if (insert === null) {
      return null;
    }
    merged.push({ from, to, insert });
  }
  return replaced(base, merged);
}

/** The changes in text order, grouped by conflict. */
function groupsOf(changes: readonly ITextChange[]): ITextChange[][] {
  const groups: ITextChange[][] = [];
  for (const change of [...changes].sort(
    (one, other) => one.from - other.from || one.to - other.to
  )) {
    const group = groups.at(-1);
    if (group?.some(other => conflicts(change, other)) === true) {
      group.push(change);
    } else {
      groups.push([change]);
    }
  }
  return groups;
}

const WORDS = /[\p{L}\p{N}_]+|\s|[^\p{L}\p{N}_\s]/gu;
/** Code units below the surrogates, which a diff must not split. */
const FIRST_CODE = 0x100;
const MAX_WORDS = 50_000;

/** Merge lines changed by both word by word; lines are never joined or split. */
const words: Resolve = (base, mine, theirs) => {
  const [before, here, there] = [base, mine, theirs].map(text =>
    text.split('\n')
  ) as [string[], string[], string[]];
  if (before.length !== here.length || before.length !== there.length) {
    return null;
  }
  const merged = before.map((line, index) =>
    mergeLine(line, here[index] ?? '', there[index] ?? '')
  );
  return merged.includes(null) ? null : merged.join('\n');
};

/** Merge one line: each word becomes one character of the compared texts. */
function mergeLine(base: string, mine: string, theirs: string): string | null {
  const codes = new Map<string, string>();
  const known: string[] = [];
  const encoded = (text: string): string =>
    (text.match(WORDS) ?? [])
      .map(word => {
        const code =
          codes.get(word) ?? String.fromCharCode(FIRST_CODE + known.length);
        if (!codes.has(word)) {
          codes.set(word, code);
          known.push(word);
        }
        return code;
      })
      .join('');
  const [before, here, there] = [encoded(base), encoded(mine), encoded(theirs)];
  const merged =
    known.length > MAX_WORDS
      ? null
      : mergeChanges(
          before,
          textChanges(before, here),
          textChanges(before, there),
          nothing
        );
  return (
    merged
      ?.split('')
      .map(code => known[code.charCodeAt(0) - FIRST_CODE] ?? '')
      .join('') ?? null
  );
}

function moved(change: ITextChange, by: number): ITextChange {
  return { ...change, from: change.from + by, to: change.to + by };
}

/** Whole-line changes that turn `before` into `after`; both are compared with a newline at their end. */
export function lineChanges(before: string, after: string): ITextChange[] {
  const [old, now] = [textOf(before), textOf(after)];
  return Chunk.build(old, now).map(({ fromA, toA, fromB, toB }) => ({
    from: Math.min(fromA, old.length),
    to: Math.min(toA, old.length),
    insert: now.sliceString(fromB, Math.min(toB, now.length))
  }));
}

function textOf(text: string): Text {
  return Text.of([...text.split('\n'), '']);
}

/** Whether two changes conflict: they share lines, or insert at the same position. */
function conflicts(one: ITextChange, other: ITextChange): boolean {
  return (
    (one.from < other.to && other.from < one.to) ||
    (one.from === other.from && one.to === other.to)
  );
}

function same(
  some: readonly ITextChange[],
  others: readonly ITextChange[]
): ITextChange[] {
  return some.filter(change => others.some(other => equal(change, other)));
}

function equal(one: ITextChange, other: ITextChange): boolean {
  return (
    one.from === other.from &&
    one.to === other.to &&
    one.insert === other.insert
  );
}

/** The text after replacements that do not overlap, in order. */
function replaced(text: string, changes: readonly ITextChange[]): string {
  let result = '';
  let position = 0;
  for (const { from, to, insert } of changes) {
    result += text.slice(position, from) + insert;
    position = to;
  }
  return result + text.slice(position);
}
