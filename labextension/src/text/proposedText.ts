/**
 * The result of an in-place edit: the selected range replaced, merged with what the user typed since. Pure; used by
 * in-place edits and their preview in the editor.
 */

import { Chunk } from '@codemirror/merge';
import { Text } from '@codemirror/state';

import { mergePreferring, mergeText } from './merge';
import { textChanges } from './edits';

/** A range of a text in UTF-16 offsets, end exclusive. */
export interface ITextRange {
  readonly from: number;
  readonly to: number;
}

/** A proposed change: the text the model read, and the text after the change. */
export interface ITextProposal {
  readonly base: string;
  readonly proposed: string;
}

/** Size of a proposed change, in lines. */
export interface IChangeSize {
  readonly added: number;
  readonly removed: number;
}

/** The text with a range replaced; the line breaks at the range's end stay. */
export function withReplacement(
  base: string,
  { from, to }: ITextRange,
  replacement: string
): string {
  const breaks = /\n*$/.exec(base.slice(from, to))?.[0] ?? '';
  const text = replacement.replace(/\n+$/, '') + breaks;
  return base.slice(0, from) + text + base.slice(to);
}

/**
 * The range as written so far: new first lines, then the old lines not yet replaced. Lines that are removed in the
 * end are not shown as removed before.
 */
export function partialReplacement(old: string, written: string): string {
  const lines = written.split('\n').slice(0, -1); // The last line is still being written.
  const before = old.split('\n');
  let reached = 0;
  let fresh = 0;
  for (const line of lines) {
    const found = before.indexOf(line, reached);
    const isHere = found === reached || (found > reached && !isCommon(line));
    reached = isHere ? found + 1 : reached;
    fresh = isHere ? 0 : fresh + 1;
  }
  return [...lines, ...before.slice(reached + fresh)].join('\n');
}

/** Whether a line is too common to align by: a bracket, or blank. */
function isCommon(line: string): boolean {
  return line.trim().length < 3;
}

/** `here` after the proposal and the user's changes; null when they conflict. */
export function mergeProposal(
  { base, proposed }: ITextProposal,
  here: string
): string | null {
  return mergeText(base, here, proposed);
}

/** `here` after the proposal, which wins where they conflict. */
export function preferProposal(
  { base, proposed }: ITextProposal,
  here: string
): string {
  return (
    mergeText(base, here, proposed) ?? mergePreferring(base, here, proposed)
  );
}

/** Count added and removed lines. */
export function changeSizeOf(before: string, after: string): IChangeSize {
  const [old, now] = [endedText(before), endedText(after)];
  return Chunk.build(old, now).reduce<IChangeSize>(
    ({ added, removed }, { fromA, toA, fromB, toB }) => ({
      added: added + linesIn(now, fromB, toB),
      removed: removed + linesIn(old, fromA, toA)
    }),
    { added: 0, removed: 0 }
  );
}

/** A range after its text changed; null when the range itself changed. */
export function movedPart(
  part: ITextRange,
  before: string,
  after: string
): ITextRange | null {
  let shift = 0;
  for (const { from, to, insert } of textChanges(before, after)) {
    if (to <= part.from) {
      shift += insert.length - (to - from);
    } else if (from < part.to) {
      return null;
    }
  }
  return { from: part.from + shift, to: part.to + shift };
}

/** A range of several lines as whole lines; one within a line stays as it is. */
export function wholeLines(text: string, { from, to }: ITextRange): ITextRange {
  if (!text.slice(from, to).includes('\n')) {
    return { from, to };
  }
  const start = text.lastIndexOf('\n', from - 1) + 1;
  const atStart = to > 0 && text[to - 1] === '\n';
  const end = atStart ? to : text.indexOf('\n', to);
  return { from: start, to: end < 0 ? text.length : end };
}

function linesIn(text: Text, from: number, to: number): number {
  return text.sliceString(from, to).split('\n').length - 1;
}

function endedText(text: string): Text {
  return Text.of([...text.split('\n'), '']);
}
