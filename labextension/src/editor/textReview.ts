/**
 * The agent's changes in one text: a line diff between a baseline (the text without them) and the current text,
 * keeping and undoing a change, and the effect of the user's typing on the baseline. Pure; used by the review view
 * and `ReviewedEditors`.
 */

import { Chunk, presentableDiff } from '@codemirror/merge';
import { Text, type ChangeSet } from '@codemirror/state';

import {
  changedLines,
  changedRegions,
  lineChangesOf,
  type ILineChange,
  type Region
} from '../text/lineDiff';

/** A baseline and its diff to the text; both are compared with a newline at their end. */
export interface ITextReview {
  readonly baseline: Text;
  readonly chunks: readonly Chunk[];
}

/** A replacement in a text. */
export interface IReplacement {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
}

/** Above this the comparison becomes coarse; the default of CodeMirror's merge view. */
const SCAN_LIMIT = 500;

/** The text with a newline at its end, so that an added last line is only an addition. */
export function withFinalNewline(text: Text): Text {
  return text.append(Text.of(['', '']));
}

/** A text as a CodeMirror `Text`. */
export function textOf(text: string): Text {
  return Text.of(text.split('\n'));
}

/** Compare a text with its baseline, both with a final newline. */
export function compareWithBaseline(
  baseline: Text,
  current: Text
): ITextReview {
  const [old, now] = [linesOf(baseline), linesOf(current)];
  const chunks = changedRegions(old, now).map(region =>
    chunkOf(baseline, current, region)
  );
  return { baseline, chunks };
}

/** The lines of a text with a final newline. */
function linesOf(text: Text): string[] {
  return text.toJSON().slice(0, -1);
}

function chunkOf(
  baseline: Text,
  current: Text,
  [start, end, first, last]: Region
): Chunk {
  const [fromA, toA] = [startOf(baseline, start), startOf(baseline, end)];
  const [fromB, toB] = [startOf(current, first), startOf(current, last)];
  const words =
    fromA === toA || fromB === toB
      ? []
      : presentableDiff(
          baseline.sliceString(fromA, toA),
          current.sliceString(fromB, toB),
          { scanLimit: SCAN_LIMIT }
        );
  return new Chunk(words, fromA, toA, fromB, toB);
}

/** Offset of a line, counted from 0. */
function startOf(text: Text, line: number): number {
  return text.line(line + 1).from;
}

/** The baseline as the server has it. */
export function baselineOf({ baseline }: ITextReview): string {
  return baseline.sliceString(0, baseline.length - 1);
}

/** The baseline after keeping a change of `current` (with a final newline). */
export function keepChange(
  { baseline }: ITextReview,
  chunk: Chunk,
  current: Text
): Text {
  const { fromA, toA, fromB, toB } = chunk;
  return baseline.replace(fromA, toA, current.slice(fromB, toB));
}

/** The replacement that undoes a change in a text of `length` characters, without the added newline. */
export function undoChange(
  { baseline }: ITextReview,
  { fromA, toA, fromB, toB }: Chunk,
  length: number
): IReplacement {
  const insert = baseline.sliceString(fromA, toA);
  if (toB <= length) {
    return { from: fromB, to: toB, insert };
  }
  // The last line has no newline: handle the one before it instead.
  const lines = insert.slice(0, -1);
  return fromB === 0
    ? { from: 0, to: length, insert: lines }
    : {
        from: fromB - 1,
        to: length,
        insert: insert === '' ? '' : `\n${lines}`
      };
}

/** The change at a position of a text of this length: it begins there or contains the position. */
export function chunkAt(
  { chunks }: ITextReview,
  position: number,
  length: number
): Chunk | undefined {
  return (
    chunks.find(({ fromB }) => Math.min(fromB, length) === position) ??
    chunks.find(({ fromB, endB }) => fromB <= position && position <= endB)
  );
}

/**
 * The baseline after the user changed the text from `before` (with a final newline): the user's typing needs no
 * review, even among the agent's lines.
 */
export function rebaseBaseline(
  { baseline, chunks }: ITextReview,
  changes: ChangeSet,
  before: Text
): Text {
  const back = chunks.map(chunk => inverseOf(chunk, baseline, before));
  const own = linesChanged(changes, before);
  return withFinalNewline(textOf(withoutAgents(linesOf(before), back, own)));
}

/**
 * The baseline of the text `here` when the server has `baseline` for the text `current`: the user may have typed
 * since, or the page may lack the agent's change.
 */
export function adoptBaseline(
  here: string,
  current: string,
  baseline: string
): string {
  if (here === current) {
    return baseline;
  }
  const known = current.split('\n');
  const back = lineChangesOf(known, baseline.split('\n'));
  const own = lineChangesOf(known, here.split('\n'));
  return withoutAgents(known, back, own);
}

/** The replacement that undoes a change of the agent. */
function inverseOf(
  { fromA, toA, fromB, toB }: Chunk,
  baseline: Text,
  current: Text
): ILineChange {
  return {
    start: current.lineAt(fromB).number - 1,
    end: current.lineAt(toB).number - 1,
    lines: fromA === toA ? [] : baseline.sliceString(fromA, toA - 1).split('\n')
  };
}

/** The user's changes of a text (with a final newline), in whole lines. */
function linesChanged(changes: ChangeSet, before: Text): ILineChange[] {
  const after = changes.apply(before.slice(0, before.length - 1));
  const ranges: [start: number, end: number, first: number, last: number][] =
    [];
  changes.iterChangedRanges((fromA, toA, fromB, toB) => {
    const start = before.lineAt(fromA).number - 1;
    const end = before.lineAt(toA).number;
    const last = after.lineAt(toB).number;
    const previous = ranges.at(-1);
    if (previous !== undefined && start < previous[1]) {
      previous[1] = end;
      previous[3] = last;
    } else {
      ranges.push([start, end, after.lineAt(fromB).number - 1, last]);
    }
  });
  const [old, now] = [linesOf(before), after.toJSON()];
  return ranges.flatMap(([start, end, first, last]) =>
    lineChangesOf(old.slice(start, end), now.slice(first, last)).map(
      change => ({
        ...change,
        start: change.start + start,
        end: change.end + start
      })
    )
  );
}

/**
 * The user's text `own` without the agent's changes; `back` are the changes that undo them. Same rule as the server's
 * `changes/remaining_hunks.py`: the user's lines stay as they are.
 */
function withoutAgents(
  lines: readonly string[],
  back: readonly ILineChange[],
  own: readonly ILineChange[]
): string {
  const merged = [...own];
  for (const change of back) {
    if (!own.some(other => isSame(change, other))) {
      const touching = own.filter(other => overlap(change, other));
      merged.push(
        ...(touching.length > 0 ? around(change, touching, lines) : [change])
      );
    }
  }
  return changedLines(lines, merged).join('\n');
}

function isSame(one: ILineChange, other: ILineChange): boolean {
  return (
    one.start === other.start &&
    one.end === other.end &&
    one.lines.join('\n') === other.lines.join('\n') &&
    one.lines.length === other.lines.length
  );
}

/** Whether both touch the same lines; adjacent ones do not. */
function overlap(one: ILineChange, other: ILineChange): boolean {
  return one.start < other.end && other.start < one.end;
}

/**
 * The part of `back` that can be applied to `lines` beside the user's changes. Its lines replace the remaining lines
 * of the agent with the most common words. If none remain and the user wrote nothing instead, they are restored; if
 * the user rewrote them all, the user's lines replace them.
 */
function around(
  back: ILineChange,
  own: readonly ILineChange[],
  lines: readonly string[]
): ILineChange[] {
  const end = own.at(-1)?.end ?? back.end;
  const behind = [{ start: end, end, lines: back.lines }];
  if (back.start === back.end) {
    return behind;
  }
  const gaps: [start: number, end: number][] = [];
  let position = back.start;
  for (const change of own) {
    if (position < change.start) {
      gaps.push([position, change.start]);
    }
    position = Math.max(position, change.end);
  }
  if (position < back.end) {
    gaps.push([position, back.end]);
  }
  if (gaps.length === 0) {
    return own.some(change => change.lines.length > 0) ? [] : behind;
  }
  const shares = sharedOut(
    back.lines,
    gaps.map(([start, stop]) => lines.slice(start, stop))
  );
  return gaps.map(([start, stop], index) => ({
    start,
    end: stop,
    lines: shares[index] ?? []
  }));
}

/** Split lines into one part for each group of lines, by the most common words. */
function sharedOut(
  before: readonly string[],
  groups: readonly (readonly string[])[]
): (readonly string[])[] {
  let rest = before;
  const parts = groups.slice(0, -1).map((group, index) => {
    const here = wordsOf(group);
    const later = wordsOf(groups.slice(index + 1).flat());
    const cut = bestCut(
      rest.map(line => {
        const words = [...wordsOf([line])];
        return [
          words.filter(word => here.has(word)).length,
          words.filter(word => later.has(word)).length
        ];
      })
    );
    const part = rest.slice(0, cut);
    rest = rest.slice(cut);
    return part;
  });
  return [...parts, rest];
}

/** The last of the cuts with the highest sum of scores on both sides. */
function bestCut(
  scores: readonly (readonly [here: number, later: number])[]
): number {
  let total = scores.reduce((sum, [, later]) => sum + later, 0);
  let [best, cut] = [total, 0];
  scores.forEach(([here, later], index) => {
    total += here - later;
    if (total >= best) {
      [best, cut] = [total, index + 1];
    }
  });
  return cut;
}

function wordsOf(lines: readonly string[]): Set<string> {
  return new Set(lines.flatMap(line => line.match(/[\p{L}\p{N}_]+/gu) ?? []));
}
