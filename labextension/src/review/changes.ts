/**
 * What the agent changed in one text: its changes by line between a baseline (the text without them) and
 * the text as it stands, how one is kept or undone, and what the user's typing means for the baseline.
 * Pure; used by the editor's review view and by the reviews of a page.
 */

import { Chunk } from '@codemirror/merge';
import { Text, type ChangeSet } from '@codemirror/state';

import { mergeText } from '../bridge/mergeText';
import { textChanges } from '../bridge/plan';

/** A baseline and where the text differs from it; both are compared with a newline at their end. */
export interface IReview {
  readonly baseline: Text;
  readonly chunks: readonly Chunk[];
}

/** A replacement in a text. */
export interface IReplacement {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
}

/** Beyond this the comparison becomes coarse; as the merge view of CodeMirror has it. */
const SCAN_LIMIT = 500;

/** The text with a newline at its end, so that a last line that is added is an addition alone. */
export function ended(text: Text): Text {
  return text.append(Text.of(['', '']));
}

/** A text as CodeMirror holds it. */
export function textOf(text: string): Text {
  return Text.of(text.split('\n'));
}

/** Compare a text with its baseline, both ended. */
export function review(baseline: Text, current: Text): IReview {
  const chunks = Chunk.build(baseline, current, { scanLimit: SCAN_LIMIT });
  return { baseline, chunks };
}

/** The baseline as the server has it. */
export function baselineOf({ baseline }: IReview): string {
  return baseline.sliceString(0, baseline.length - 1);
}

/** The baseline once a change of `current` (ended) is kept. */
export function kept({ baseline }: IReview, chunk: Chunk, current: Text): Text {
  const { fromA, toA, fromB, toB } = chunk;
  return baseline.replace(fromA, toA, current.slice(fromB, toB));
}

/** What takes a change out of a text of `length` characters, which has no newline added. */
export function undone(
  { baseline }: IReview,
  { fromA, toA, fromB, toB }: Chunk,
  length: number
): IReplacement {
  const insert = baseline.sliceString(fromA, toA);
  if (toB <= length) {
    return { from: fromB, to: toB, insert };
  }
  // The last line has no newline of its own: the one before it goes or stays instead.
  const lines = insert.slice(0, -1);
  return fromB === 0
    ? { from: 0, to: length, insert: lines }
    : {
        from: fromB - 1,
        to: length,
        insert: insert === '' ? '' : `\n${lines}`
      };
}

/** The change at a position of a text of so many characters: the one that begins there, or is around it. */
export function chunkAt(
  { chunks }: IReview,
  position: number,
  length: number
): Chunk | undefined {
  return (
    chunks.find(({ fromB }) => Math.min(fromB, length) === position) ??
    chunks.find(({ fromB, endB }) => fromB <= position && position <= endB)
  );
}

/**
 * The baseline after the user changed the text from `before` (ended): what they wrote outside the agent's
 * changes is theirs and no change to look through; what they wrote inside one belongs to it.
 */
export function rebased(
  { baseline, chunks }: IReview,
  changes: ChangeSet,
  before: Text
): Text {
  const replacements: IReplacement[] = [];
  changes.iterChanges((from, to, _from, _to, inserted) => {
    const change = { from, to, insert: inserted.toString() };
    for (const part of partsOf(change, before)) {
      const mapped = mappedToBaseline(part, chunks, baseline, before);
      if (mapped !== null) {
        replacements.push(mapped);
      }
    }
  }, true);
  return replacements.reduceRight(
    (text, { from, to, insert }) => text.replace(from, to, textOf(insert)),
    baseline
  );
}

/** A replacement as what really differs: a formatter puts a whole text in the place of another. */
function partsOf(
  { from, to, insert }: IReplacement,
  before: Text
): IReplacement[] {
  return from === to || insert === ''
    ? [{ from, to, insert }]
    : textChanges(before.sliceString(from, to), insert).map(part => ({
        from: from + part.from,
        to: from + part.to,
        insert: part.insert
      }));
}

/** A change of the text as a change of its baseline; null when it belongs to one of the agent's. */
function mappedToBaseline(
  change: IReplacement,
  chunks: readonly Chunk[],
  baseline: Text,
  before: Text
): IReplacement | null {
  let shift = 0;
  for (const chunk of chunks) {
    const place = placeOf(change, chunk, before);
    if (place === 'before') {
      break;
    }
    if (place === 'inside') {
      return null;
    }
    if (place !== 'after') {
      const lines = place.insert;
      const old = baseline.sliceString(chunk.fromA, chunk.toA);
      // The user puts back what the agent took: an undo, or by hand.
      return `\n${old}`.includes(`\n${lines}`)
        ? null
        : { from: chunk[place.at], to: chunk[place.at], insert: lines };
    }
    shift = chunk.toA - chunk.toB;
  }
  const { from, to, insert } = change;
  return { from: from + shift, to: to + shift, insert };
}

/** Whole lines put right before or after a change. */
interface IBeside {
  readonly at: 'fromA' | 'toA';
  readonly insert: string;
}

/** Where a change of the text is, as one of the agent's changes sees it. */
function placeOf(
  change: IReplacement,
  chunk: Chunk,
  before: Text
): 'before' | 'inside' | 'after' | IBeside {
  const { from, to, insert } = change;
  const { fromB, toB } = chunk;
  const beside = from === to ? besideOf(change, chunk) : null;
  if (beside !== null) {
    return beside;
  }
  if (from >= toB) {
    return 'after';
  }
  if (to !== fromB || from === to) {
    return to < fromB ? 'before' : 'inside';
  }
  const isWhole = insert === '' || insert.endsWith('\n');
  return isWhole && before.lineAt(from).from === from ? 'before' : 'inside';
}

/** Whole lines the user puts at the edge of a change are not part of it. */
function besideOf(
  { from, insert }: IReplacement,
  { fromB, toB }: Chunk
): IBeside | null {
  const isEmpty = fromB === toB;
  if (insert.startsWith('\n') && from === (isEmpty ? fromB : toB) - 1) {
    const at = isEmpty ? 'fromA' : 'toA';
    return { at, insert: `${insert.slice(1)}\n` };
  }
  return insert.endsWith('\n') && from === fromB
    ? { at: isEmpty ? 'toA' : 'fromA', insert }
    : null;
}

/**
 * The baseline of a text that is `here`, when the server knows it as `current` with `baseline`: the user
 * may have written since.
 */
export function adopted(
  here: string,
  current: string,
  baseline: string
): string {
  // Where the user changed the agent's lines since, these stay to be looked through.
  return here === current
    ? baseline
    : (mergeText(current, here, baseline) ?? baseline);
}
