/**
 * Draws a change of the agent in an editor: deleted lines above the new ones, with buttons to decide. Pure CodeMirror
 * decorations; used by the review view.
 */

import type { Chunk } from '@codemirror/merge';
import { RangeSetBuilder, type Text } from '@codemirror/state';
import {
  Decoration,
  WidgetType,
  type DecorationSet,
  type EditorView
} from '@codemirror/view';

import type { ITextReview } from './textReview';

/** The user's decision on a change. */
export type Decision = 'keep' | 'undo';

/** Labels and controls of a change. */
export interface IHunkLabels {
  /** Title with the numbers of added and removed lines, translated. */
  readonly title: (added: number, removed: number) => string;
  /** Makes the control for the change at an element of the editor. */
  readonly control: (view: EditorView, element: HTMLElement) => HTMLElement;
}

const ADDED = Decoration.line({ class: 'shoulders-Hunk-added' });
const NEW_TEXT = Decoration.mark({ class: 'shoulders-Hunk-newText' });

/** Decorations for all changes of a text. */
export function decorateHunks(
  review: ITextReview,
  current: Text,
  words: IHunkLabels
): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  for (const chunk of review.chunks) {
    const isPast = chunk.fromB > current.length;
    const at = isPast ? current.length : chunk.fromB;
    const widget = new HunkWidget(
      widgetContentOf(review, chunk, current),
      words
    );
    const block = Decoration.widget({
      widget,
      block: true,
      side: isPast ? 1 : -1
    });
    builder.add(at, at, block);
    addLines(builder, chunk, current);
  }
  return builder.finish();
}

/** Mark the new lines, and the new words of changed lines. */
function addLines(
  builder: RangeSetBuilder<Decoration>,
  chunk: Chunk,
  current: Text
): void {
  const { fromA, toA, fromB, toB } = chunk;
  const marks = fromA === toA ? [] : chunk.changes;
  const end = Math.min(toB, current.length);
  for (let at = fromB; at < toB && at <= current.length;) {
    const line = current.lineAt(at);
    builder.add(line.from, line.from, ADDED);
    for (const change of marks) {
      const from = Math.max(line.from, fromB + change.fromB);
      const to = Math.min(line.to, end, fromB + change.toB);
      if (from < to) {
        builder.add(from, to, NEW_TEXT);
      }
    }
    at = line.to + 1;
  }
}

/** A piece of a deleted line; `changed` pieces are not in the new text. */
interface IPiece {
  readonly text: string;
  readonly changed: boolean;
}

/** Content of a change's widget. */
interface IWidgetContent {
  readonly lines: readonly (readonly IPiece[])[];
  readonly added: number;
}

function widgetContentOf(
  { baseline }: ITextReview,
  chunk: Chunk,
  current: Text
): IWidgetContent {
  const { fromA, toA, fromB, toB } = chunk;
  const marks = fromB === toB ? [] : chunk.changes;
  const lines: IPiece[][] = [];
  for (let at = fromA; at < toA;) {
    const line = baseline.lineAt(at);
    lines.push(piecesOf(line, marks, fromA));
    at = line.to + 1;
  }
  const last = Math.min(toB - 1, current.length);
  const added =
    fromB === toB
      ? 0
      : current.lineAt(last).number - current.lineAt(fromB).number + 1;
  return { lines, added };
}

function piecesOf(
  { from, to, text }: { from: number; to: number; text: string },
  marks: Chunk['changes'],
  start: number
): IPiece[] {
  const pieces: IPiece[] = [];
  let at = from;
  for (const mark of marks) {
    const begin = Math.max(at, Math.min(to, start + mark.fromA));
    const end = Math.max(begin, Math.min(to, start + mark.toA));
    pieces.push(
      { text: text.slice(at - from, begin - from), changed: false },
      { text: text.slice(begin - from, end - from), changed: true }
    );
    at = end;
  }
  pieces.push({ text: text.slice(at - from), changed: false });
  return pieces.filter(piece => piece.text !== '');
}

/** The deleted lines and the control. */
class HunkWidget extends WidgetType {
  constructor(
    private readonly content: IWidgetContent,
    private readonly words: IHunkLabels
  ) {
    super();
    this.said = JSON.stringify(content);
  }

  override eq(other: HunkWidget): boolean {
    return other.said === this.said;
  }

  override toDOM(view: EditorView): HTMLElement {
    const { lines, added } = this.content;
    const node = document.createElement('div');
    node.className = 'shoulders-Hunk';
    node.setAttribute('role', 'group');
    node.setAttribute('aria-label', this.words.title(added, lines.length));
    const tools = document.createElement('div');
    tools.className = 'shoulders-Hunk-tools';
    tools.append(this.words.control(view, node));
    node.append(tools, ...lines.map(deletedLine));
    return node;
  }

  private readonly said: string;
}

function deletedLine(pieces: readonly IPiece[]): HTMLElement {
  const line = document.createElement('del');
  line.className = 'shoulders-Hunk-deleted';
  for (const { text, changed } of pieces) {
    const part = document.createElement('span');
    part.textContent = text;
    if (changed) {
      part.className = 'shoulders-Hunk-oldText';
    }
    line.append(part);
  }
  if (pieces.length === 0) {
    line.append(document.createElement('br'));
  }
  return line;
}
