/** Highlights an element or lines for a moment. Used by the follower and by links of the chat. */

import {
  StateEffect,
  StateField,
  type Extension,
  type Range
} from '@codemirror/state';
import { Decoration, EditorView, type DecorationSet } from '@codemirror/view';

import '../../style/documents/follow.css';

/** Duration in ms; see `follow.css`. */
const FADE = 1200;

const FLASH = 'shoulders-mod-flash';

const timers = new WeakMap<Element, ReturnType<typeof setTimeout>>();

/** Flash an element; it becomes positioned if it is not. */
export function flashElement(element: Element): void {
  clearTimeout(timers.get(element));
  element.classList.remove(FLASH);
  void element.getBoundingClientRect(); // Restarts the animation.
  element.classList.add(FLASH);
  timers.set(
    element,
    setTimeout(() => element.classList.remove(FLASH), FADE)
  );
}

/** A range of a text, in UTF-16 units. */
export interface IRange {
  readonly from: number;
  readonly to: number;
}

const setLines = StateEffect.define<DecorationSet>();

const lines = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (value, transaction) =>
    transaction.effects.reduce(
      (shown, effect) => (effect.is(setLines) ? effect.value : shown),
      value.map(transaction.changes)
    ),
  provide: (field): Extension => EditorView.decorations.from(field)
});

const line = Decoration.line({ class: 'shoulders-Flash-line' });

/** Flash the lines of ranges in an editor. */
export function flashLines(view: EditorView, ranges: readonly IRange[]): void {
  if (view.state.field(lines, false) === undefined) {
    view.dispatch({ effects: StateEffect.appendConfig.of(lines) });
  }
  const shown = Decoration.set(
    ranges.flatMap(range => lineMarks(view, range)),
    true
  );
  view.dispatch({ effects: setLines.of(shown) });
  clearTimeout(timers.get(view.dom));
  const clear = (): void =>
    view.dispatch({ effects: setLines.of(Decoration.none) });
  timers.set(view.dom, setTimeout(clear, FADE));
}

function lineMarks(view: EditorView, range: IRange): Range<Decoration>[] {
  const { doc } = view.state;
  const first = doc.lineAt(Math.min(range.from, doc.length)).number;
  const last = doc.lineAt(Math.min(range.to, doc.length)).number;
  return Array.from({ length: last - first + 1 }, (_, index) =>
    line.range(doc.line(first + index).from)
  );
}
