/**
 * Marks of threads in editors: a dot in the gutter of the line where each begins, and an underline. They move with
 * the text until the page sets new positions. Used by `ThreadMarks`; knows CodeMirror, not JupyterLab.
 */

import {
  Compartment,
  RangeSet,
  StateEffect,
  StateField,
  type ChangeDesc,
  type EditorState,
  type Extension
} from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  gutter,
  GutterMarker
} from '@codemirror/view';

/** The range and appearance of a thread in an editor. */
export interface ITextMark {
  readonly id: string;
  readonly from: number;
  readonly to: number;
  /** CSS classes. */
  readonly classes: string;
  readonly label: string;
}

/** One dot for all threads of a line. */
export interface IDot {
  readonly classes: string;
  readonly label: string;
}

/** Callbacks of the marks to the page. */
export interface ITextMarkListener {
  /** The dot of some threads was clicked. */
  readonly opened: (ids: readonly string[], dot: DOMRect) => void;
  /** Text composition has ended: marks may be drawn. */
  readonly settled: () => void;
  readonly dotOf: (ids: readonly string[]) => IDot;
}

const DOT = 'shoulders-ThreadDot';

/** Marks in the editors that have `extension`. */
export class EditorMarks {
  constructor(private readonly listener: ITextMarkListener) {
    this.extension = [
      this.field,
      this.dots,
      this.place.of([]),
      EditorView.domEventHandlers({ compositionend: () => listener.settled() })
    ];
  }

  /** The extension for an editor; shows nothing without marks. */
  readonly extension: Extension;

  /** Show these marks. Returns false when they cannot be drawn now; `settled` reports when they can. */
  show(view: EditorView, marks: readonly ITextMark[]): boolean {
    const shown = this.in(view.state);
    if (isSame(shown, marks)) {
      return true;
    }
    if (view.composing) {
      return false;
    }
    const isFirst = shown.length === 0 || marks.length === 0;
    const gutters = marks.length > 0 ? this.gutter() : [];
    view.dispatch({
      effects: [
        this.set.of(marks),
        ...(isFirst ? [this.place.reconfigure(gutters)] : [])
      ]
    });
    return true;
  }

  /** The marks of an editor at their current positions. */
  in(state: EditorState): readonly ITextMark[] {
    return state.field(this.field, false) ?? [];
  }

  private gutter(): Extension {
    return gutter({
      class: 'shoulders-ThreadGutter',
      markers: ({ state }) => state.field(this.dots),
      domEventHandlers: {
        // Do not move the cursor.
        mousedown: (_, __, event) => dotAt(event) !== null,
        click: (view, line, event) => {
          const dot = dotAt(event);
          const ids = dot === null ? [] : this.idsAt(view, line.from);
          if (dot === null || ids.length === 0) {
            return false;
          }
          this.listener.opened(ids, dot.getBoundingClientRect());
          return true;
        }
      }
    });
  }

  private idsAt(view: EditorView, position: number): string[] {
    const { from, to } = view.state.doc.lineAt(position);
    return this.in(view.state)
      .filter(mark => mark.from >= from && mark.from <= to)
      .map(({ id }) => id);
  }

  private drawDots(state: EditorState): RangeSet<GutterMarker> {
    const lines = new Map<number, string[]>();
    for (const { id, from } of this.in(state)) {
      const start = state.doc.lineAt(Math.min(from, state.doc.length)).from;
      lines.set(start, [...(lines.get(start) ?? []), id]);
    }
    const dots = [...lines].map(([start, ids]) =>
      new Dot(ids.length, this.listener.dotOf(ids)).range(start)
    );
    return RangeSet.of(dots, true);
  }

  private readonly set = StateEffect.define<readonly ITextMark[]>();
  private readonly place = new Compartment();
  private readonly field = StateField.define<readonly ITextMark[]>({
    create: () => [],
    update: (marks, transaction) => {
      const given = transaction.effects.find(effect => effect.is(this.set));
      if (given !== undefined) {
        return given.value;
      }
      return transaction.docChanged && marks.length > 0
        ? marks.map(mark => moved(mark, transaction.changes))
        : marks;
    },
    provide: marks => EditorView.decorations.from(marks, underlined)
  });
  private readonly dots = StateField.define<RangeSet<GutterMarker>>({
    create: () => RangeSet.empty,
    update: (dots, { state, startState }) =>
      this.in(state) === this.in(startState) ? dots : this.drawDots(state)
  });
}

/** The dots of one line. */
class Dot extends GutterMarker {
  constructor(
    private readonly count: number,
    private readonly shown: IDot
  ) {
    super();
  }

  override eq({ count, shown }: Dot): boolean {
    return (
      count === this.count &&
      shown.classes === this.shown.classes &&
      shown.label === this.shown.label
    );
  }

  /** For the mouse only: gutters are hidden from screen readers, which use the commands and the cell's badge. */
  override toDOM(): HTMLElement {
    const { classes, label } = this.shown;
    const dot = document.createElement('span');
    dot.className = `${DOT} ${classes}`;
    dot.title = label;
    dot.textContent = this.count > 1 ? String(this.count) : '';
    return dot;
  }
}

/** Text typed at either end of a marked range is not part of it. */
function moved(mark: ITextMark, changes: ChangeDesc): ITextMark {
  const from = changes.mapPos(mark.from, 1);
  const to = Math.max(from, changes.mapPos(mark.to, -1));
  return from === mark.from && to === mark.to ? mark : { ...mark, from, to };
}

function underlined(marks: readonly ITextMark[]): DecorationSet {
  const ranges = marks
    .filter(({ from, to }) => from < to)
    .map(({ from, to, classes }) =>
      Decoration.mark({ class: `shoulders-ThreadText ${classes}` }).range(
        from,
        to
      )
    );
  return Decoration.set(ranges, true);
}

function dotAt({ target }: Event): Element | null {
  return target instanceof Element ? target.closest(`.${DOT}`) : null;
}

function isSame(
  ones: readonly ITextMark[],
  others: readonly ITextMark[]
): boolean {
  return (
    ones.length === others.length &&
    ones.every((one, index) => {
      const other = others[index];
      return (
        one.id === other?.id &&
        one.from === other.from &&
        one.to === other.to &&
        one.classes === other.classes &&
        one.label === other.label
      );
    })
  );
}
