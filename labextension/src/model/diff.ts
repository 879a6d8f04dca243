/** Line differences of a cell or file before and after; used by the views of edits, approvals and proposals. */

import { Chunk } from '@codemirror/merge';
import { Text } from '@codemirror/state';

/** One line of a unified difference; `gap` stands for unchanged lines left out. */
export interface IDiffLine {
  readonly kind: 'same' | 'old' | 'new' | 'gap';
  readonly text: string;
}

/** Unchanged lines shown around a change. */
const CONTEXT = 2;

/** The unified difference of two texts by line. */
export function diffLines(before: string, after: string): IDiffLine[] {
  const old = textOf(before);
  const now = textOf(after);
  const lines: IDiffLine[] = [];
  let position = 0;
  for (const chunk of Chunk.build(old, now)) {
    same(lines, slice(old, position, chunk.fromA), false);
    push(lines, 'old', slice(old, chunk.fromA, chunk.toA));
    push(lines, 'new', slice(now, chunk.fromB, chunk.toB));
    position = chunk.toA;
  }
  same(lines, slice(old, position, old.length), true);
  return lines;
}

/** Every line ends with a newline, so that an added last line is an addition alone; an empty text has no lines. */
function textOf(text: string): Text {
  return Text.of([...(text === '' ? [] : text.split('\n')), '']);
}

/** The lines of a unified difference as tools write it; each hunk's head becomes a gap. */
export function parseDiff(text: string): IDiffLine[] {
  return text.split('\n').map(line => {
    const kind = MARKS.get(line.slice(0, 1));
    return kind === undefined
      ? { kind: 'same', text: line }
      : { kind, text: kind === 'gap' ? '' : line.slice(1) };
  });
}

const MARKS = new Map<string, IDiffLine['kind']>([
  ['+', 'new'],
  ['-', 'old'],
  ['@', 'gap'],
  [' ', 'same']
]);

/** Lines added and removed. */
export function countChanges(lines: readonly IDiffLine[]): {
  added: number;
  removed: number;
} {
  const count = (kind: IDiffLine['kind']): number =>
    lines.filter(line => line.kind === kind).length;
  return { added: count('new'), removed: count('old') };
}

/** The lines of `[from, to)`, which ends after a newline. */
function slice(text: Text, from: number, to: number): string[] {
  if (to <= from) {
    return [];
  }
  return text.sliceString(from, to - 1).split('\n');
}

function push(
  lines: IDiffLine[],
  kind: IDiffLine['kind'],
  texts: readonly string[]
): void {
  lines.push(...texts.map(text => ({ kind, text })));
}

/** Add unchanged lines, of a long run only those beside a change. */
function same(
  lines: IDiffLine[],
  texts: readonly string[],
  last: boolean
): void {
  const first = lines.length === 0;
  const head = first ? 0 : CONTEXT;
  const tail = last ? 0 : CONTEXT;
  const unchanged = first && last;
  if (unchanged || texts.length <= head + tail + 1) {
    push(lines, 'same', texts);
    return;
  }
  push(lines, 'same', texts.slice(0, head));
  lines.push({ kind: 'gap', text: '' });
  push(lines, 'same', texts.slice(texts.length - tail));
}
