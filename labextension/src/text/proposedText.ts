/**
 * What an edit in place makes of a text: the selected part replaced, together with what the user typed meanwhile.
 * Pure; used by the edits in place and by the editor's view of them.
 */

import { Chunk } from '@codemirror/merge';
import { Text } from '@codemirror/state';

import { mergePreferring, mergeText } from './merge';
import { textChanges } from './edits';

/** A part of a text, in UTF-16 offsets, the end not included. */
export interface ITextRange {
  readonly from: number;
  readonly to: number;
}

/** What stands to be accepted: the text as the model read it, and as it is to become. */
export interface ITextProposal {
  readonly base: string;
  readonly proposed: string;
}

/** How much a proposal changes, in lines. */
export interface IChangeSize {
  readonly added: number;
  readonly removed: number;
}

/** The text with a part of it replaced; the line breaks at the part's end stay as they are. */
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
 * The part as far as it is written: its first lines are new, those that nothing has come for yet are old. What is
 * removed in the end is not shown as removed before.
 */
export function partialReplacement(old: string, written: string): string {
  const lines = written.split('\n').slice(0, -1); // The last is still being written.
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

/** Whether a line says little about where it stands: a bracket, nothing. */
function isCommon(line: string): boolean {
  return line.trim().length < 3;
}

/** What `here` is to become: the proposal, and what the user changed since; null when the two clash. */
export function mergeProposal(
  { base, proposed }: ITextProposal,
  here: string
): string | null {
  return mergeText(base, here, proposed);
}

/** What the proposal would make of `here`, whose lines it replaces where the two clash. */
export function preferProposal(
  { base, proposed }: ITextProposal,
  here: string
): string {
  return (
    mergeText(base, here, proposed) ?? mergePreferring(base, here, proposed)
  );
}

/** Count lines that come and go. */
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

/** Where a part of a text is after the text became another; null when it is not the same any more. */
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

/** A part of several lines as whole lines; one within a line stays as it is. */
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
