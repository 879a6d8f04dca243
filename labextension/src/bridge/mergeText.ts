/**
 * Merges two changes of one text line by line. Pure; used where a cell was changed on two sides: by
 * `merge` for the file and by `recovery` for what was left behind.
 */

import { Chunk } from '@codemirror/merge';
import { Text } from '@codemirror/state';

import { textChanges, type ITextChange } from './plan';

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

function mergeLines(base: string, mine: string, theirs: string): string | null {
  const own = lineChanges(base, mine);
  const others = lineChanges(base, theirs);
  const twice = same(own, others);
  const more = others.filter(
    change => !twice.some(other => equal(change, other))
  );
  if (more.some(change => own.some(other => clash(change, other)))) {
    return null;
  }
  const changes = [...own, ...more].sort(
    (one, other) => one.from - other.from || one.to - other.to
  );
  // Each text was compared with a newline at its end.
  return replaced(`${base}\n`, changes).slice(0, -1);
}

/** What makes `after` of `before`, in whole lines, both compared with a newline at their end. */
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

/** Whether it is not clear what two changes make together. */
function clash(one: ITextChange, other: ITextChange): boolean {
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
