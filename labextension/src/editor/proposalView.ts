/**
 * Previews a change in an editor: removed lines are struck out, new lines are shown below them. The text itself is
 * unchanged and editable. Pure CodeMirror decorations; used by in-place edits.
 */

import { Chunk } from '@codemirror/merge';
import {
  RangeSetBuilder,
  StateEffect,
  StateField,
  type Extension,
  type Text,
  type EditorState
} from '@codemirror/state';
import {
  Decoration,
  EditorView,
  WidgetType,
  type DecorationSet
} from '@codemirror/view';
import { highlightingFor, language } from '@codemirror/language';
import { highlightTree } from '@lezer/highlight';

import { preferProposal, type ITextProposal } from '../text/proposedText';
import { visible } from '../text/hiddenCharacters';
import { withFinalNewline, textOf } from './textReview';

const setProposal = StateEffect.define<ITextProposal | null>();

interface IShown {
  readonly proposal: ITextProposal | null;
  readonly decorations: DecorationSet;
}

const NOTHING: IShown = { proposal: null, decorations: Decoration.none };
const OLD_LINE = Decoration.line({ class: 'shoulders-Proposed-old' });
const OLD_TEXT = Decoration.mark({ class: 'shoulders-Proposed-oldText' });

const field = StateField.define<IShown>({
  create: () => NOTHING,
  update: (value, transaction) => {
    const given = transaction.effects.find(effect => effect.is(setProposal));
    const proposal = given === undefined ? value.proposal : given.value;
    if (given === undefined && !transaction.docChanged) {
      return value;
    }
    return proposal === null
      ? NOTHING
      : { proposal, decorations: decorate(proposal, transaction.state.doc) };
  },
  provide: self => EditorView.decorations.from(self, value => value.decorations)
});

/** The extension for an editor; shows nothing without a proposal. */
export function proposalView(): Extension {
  return field;
}

/** Show a proposal in an editor with the extension; null removes it. */
export function showProposal(
  view: EditorView,
  proposal: ITextProposal | null
): void {
  if (view.state.field(field, false)?.proposal !== proposal) {
    view.dispatch({ effects: setProposal.of(proposal) });
  }
}

/** Whether an editor has the extension. */
export function hasProposalView(view: EditorView): boolean {
  return view.state.field(field, false) !== undefined;
}

function decorate(proposal: ITextProposal, doc: Text): DecorationSet {
  // Where they conflict, show the result of a forced accept.
  const target = preferProposal(proposal, doc.toString());
  const now = withFinalNewline(textOf(target));
  const builder = new RangeSetBuilder<Decoration>();
  for (const chunk of Chunk.build(withFinalNewline(doc), now)) {
    addOld(builder, chunk, doc);
    const lines = now.sliceString(chunk.fromB, chunk.toB).split('\n');
    lines.pop();
    if (lines.length > 0) {
      builder.add(...insertionPoint(chunk, doc, lines));
    }
  }
  return builder.finish();
}

/** Strike out removed lines, and the removed words of replaced lines. */
function addOld(
  builder: RangeSetBuilder<Decoration>,
  { fromA, toA, fromB, toB, changes }: Chunk,
  doc: Text
): void {
  const marks = fromB === toB ? [] : changes;
  for (let at = fromA; at < toA && at <= doc.length;) {
    const line = doc.lineAt(at);
    builder.add(line.from, line.from, OLD_LINE);
    for (const mark of marks) {
      const from = Math.max(line.from, fromA + mark.fromA);
      const to = Math.min(line.to, fromA + mark.toA);
      if (from < to) {
        builder.add(from, to, OLD_TEXT);
      }
    }
    at = line.to + 1;
  }
}

/** Position of the new lines: below those they replace, or before the next line. */
function insertionPoint(
  { fromA, toA, toB, fromB, changes }: Chunk,
  doc: Text,
  lines: readonly string[]
): [number, number, Decoration] {
  const isBefore = fromA === toA && fromA <= doc.length;
  const at = isBefore ? fromA : Math.min(toA - 1, doc.length);
  const marks =
    fromA === toA
      ? []
      : changes.map(change => ({ from: change.fromB, to: change.toB }));
  const widget = new NewLines(lines, fromB === toB ? [] : marks);
  return [
    at,
    at,
    Decoration.widget({ widget, block: true, side: isBefore ? -1 : 1 })
  ];
}

/** The new lines. */
class NewLines extends WidgetType {
  constructor(
    private readonly lines: readonly string[],
    /** The new words, in offsets of all lines together. */
    private readonly marks: readonly { from: number; to: number }[]
  ) {
    super();
  }

  override eq(other: NewLines): boolean {
    return (
      other.lines.join('\n') === this.lines.join('\n') &&
      JSON.stringify(other.marks) === JSON.stringify(this.marks)
    );
  }

  override toDOM({ state }: EditorView): HTMLElement {
    const node = document.createElement('div');
    node.className = 'shoulders-Proposed';
    const colours = coloursOf(this.lines.join('\n'), state);
    let start = 0;
    for (const text of this.lines) {
      node.append(this.line({ text, start, colours }));
      start += text.length + 1;
    }
    return node;
  }

  override ignoreEvent(): boolean {
    return false;
  }

  private line(line: ILine): HTMLElement {
    const { text, start } = line;
    const node = document.createElement('ins');
    node.className = 'shoulders-Proposed-new';
    let at = 0;
    for (const { from, to } of this.marks) {
      const begin = Math.max(at, Math.min(text.length, from - start));
      const end = Math.max(begin, Math.min(text.length, to - start));
      paint(node, line, at, begin);
      if (begin < end) {
        const mark = document.createElement('span');
        mark.className = 'shoulders-Proposed-newText';
        paint(mark, line, begin, end);
        node.append(mark);
      }
      at = end;
    }
    paint(node, line, at, text.length);
    if (text === '') {
      node.append(document.createElement('br'));
    }
    return node;
  }
}

/** A line of the new text. */
interface ILine {
  readonly text: string;
  /** Its offset in the whole new text, for syntax colours. */
  readonly start: number;
  readonly colours: readonly IColoured[];
}

/** Append a part of a line to an element in its colours. */
function paint(
  into: HTMLElement,
  { text, start, colours }: ILine,
  begin: number,
  end: number
): void {
  let at = begin;
  for (const { from, to, classes } of colours) {
    const first = Math.max(at, from - start);
    const last = Math.min(end, to - start);
    if (first < last) {
      const piece = document.createElement('span');
      piece.className = classes;
      piece.textContent = visible(text.slice(first, last));
      into.append(visible(text.slice(at, first)), piece);
      at = last;
    }
  }
  into.append(visible(text.slice(at, end)));
}

/** Longest text that is coloured, because it is coloured again with every streamed token. */
const MAX_COLOURED_LENGTH = 20_000;

/** A range of a text with the CSS classes of its colour. */
export interface IColoured {
  readonly from: number;
  readonly to: number;
  readonly classes: string;
}

/** The coloured ranges of a text in the editor's language, in order; none without a language. */
export function coloursOf(
  text: string,
  state: EditorState
): readonly IColoured[] {
  const spoken = state.facet(language);
  const pieces: IColoured[] = [];
  if (spoken !== null && text.length <= MAX_COLOURED_LENGTH) {
    highlightTree(
      spoken.parser.parse(text),
      { style: tags => highlightingFor(state, tags) },
      (from, to, classes) => pieces.push({ from, to, classes })
    );
  }
  return pieces;
}
