/** Line and word diffs of a cell or file; used by the views of edits, approvals and proposals. */

import { Chunk } from '@codemirror/merge';
import { Text } from '@codemirror/state';

/** One line of a unified diff; `gap` marks omitted unchanged lines. */
export interface IDiffLine {
  readonly kind: 'same' | 'old' | 'new' | 'gap';
  readonly text: string;
}

/** A range within a line, in UTF-16 units. */
export interface ISpan {
  readonly from: number;
  readonly to: number;
}

/** A line of a word diff; `words` are the ranges that the other line lacks. */
export interface IWordLine extends IDiffLine {
  readonly words: readonly ISpan[];
}

/** Unchanged lines shown around a change. */
const CONTEXT = 2;

/** The unified diff of two texts by line. */
export function diffLines(before: string, after: string): IDiffLine[] {
  return diffWords(before, after).map(({ kind, text }) => ({ kind, text }));
}

/** The unified diff of two texts, with the changed words of replaced lines. */
export function diffWords(before: string, after: string): IWordLine[] {
  const old = textOf(before);
  const now = textOf(after);
  const lines: IWordLine[] = [];
  let position = 0;
  for (const chunk of Chunk.build(old, now)) {
    const { fromA, toA, fromB, toB } = chunk;
    const gone = slice(old, fromA, toA);
    const come = slice(now, fromB, toB);
    const words = changedWords(chunk, gone.join('\n'), come.join('\n'));
    same(lines, slice(old, position, fromA), false);
    push(lines, 'old', gone, words.gone);
    push(lines, 'new', come, words.come);
    position = toA;
  }
  same(lines, slice(old, position, old.length), true);
  return lines;
}

/** The changed words of a region; none when it was added or removed as a whole. */
function changedWords(
  { changes }: Chunk,
  old: string,
  now: string
): { gone: ISpan[]; come: ISpan[] } {
  const gone: ISpan[] = [];
  const come: ISpan[] = [];
  const all = old === '' || now === '' ? [] : changes;
  for (const [index, { fromA, toA, fromB, toB }] of all.entries()) {
    const parts = [old.slice(fromA, toA), now.slice(fromB, toB)];
    // Text between two changes is the same in both texts.
    const last = come.at(-1)?.to ?? 0;
    const gap = now.slice(Math.max(last, fromB - LONGEST_WORD), fromB);
    const next = now.slice(toB, all[index + 1]?.fromB);
    const before = parts.some(isWordAtStart) ? lengthOf(WORD_END, gap) : 0;
    const after = parts.some(isWordAtEnd) ? lengthOf(WORD_START, next) : 0;
    gone.push({ from: fromA - before, to: toA + after });
    come.push({ from: fromB - before, to: toB + after });
  }
  return { gone, come };
}

/** Longest word, in characters: a line of a data file may have no spaces. */
const LONGEST_WORD = 200;

const WORD_START = /^[\p{L}\p{N}_]+/u;
const WORD_END = /[\p{L}\p{N}_]+$/u;

function isWordAtStart(text: string): boolean {
  return /^[\p{L}\p{N}_]/u.test(text);
}

function isWordAtEnd(text: string): boolean {
  return /[\p{L}\p{N}_]$/u.test(text);
}

function lengthOf(pattern: RegExp, text: string): number {
  return pattern.exec(text)?.[0].length ?? 0;
}

/** Every line ends in a newline, so that an added last line is only an addition; an empty text has no lines. */
function textOf(text: string): Text {
  return Text.of([...(text === '' ? [] : text.split('\n')), '']);
}

/** The lines of a unified diff as written by tools; each hunk header becomes a gap. */
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

/** Numbers of added and removed lines. */
export function countChanges(lines: readonly IDiffLine[]): {
  added: number;
  removed: number;
} {
  const count = (kind: IDiffLine['kind']): number =>
    lines.filter(line => line.kind === kind).length;
  return { added: count('new'), removed: count('old') };
}

/** The lines in `[from, to)`; `to` is behind a newline. */
function slice(text: Text, from: number, to: number): string[] {
  if (to <= from) {
    return [];
  }
  return text.sliceString(from, to - 1).split('\n');
}

/** Add lines; `words` are offsets in all of them together. */
function push(
  lines: IWordLine[],
  kind: IDiffLine['kind'],
  texts: readonly string[],
  words: readonly ISpan[] = []
): void {
  let start = 0;
  for (const text of texts) {
    lines.push({ kind, text, words: within(words, start, text.length) });
    start += text.length + 1;
  }
}

/** The parts of spans within a line. */
function within(
  spans: readonly ISpan[],
  start: number,
  length: number
): ISpan[] {
  return spans
    .map(({ from, to }) => ({
      from: Math.max(0, from - start),
      to: Math.min(length, to - start)
    }))
    .filter(({ from, to }) => from < to);
}

/** Add unchanged lines; of a long run only those near a change. */
function same(
  lines: IWordLine[],
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
  push(lines, 'gap', ['']);
  push(lines, 'same', texts.slice(texts.length - tail));
}
