/**
 * The marks of threads in editors: a dot in the gutter of the line each begins in, and a line below its text. They move
 * with the text until the page says where they are. Made by the marks of the page; knows CodeMirror, not the lab.
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

/** A thread in an editor: where, and how it looks. */
export interface ITextMark {
  readonly id: string;
  readonly from: number;
  readonly to: number;
  /** Its classes. */
  readonly look: string;
  readonly label: string;
}

/** One dot for the threads of a line. */
export interface IDot {
  readonly look: string;
  readonly label: string;
}

/** What the page is told of editors, and what it is asked. */
export interface ITextMarkListener {
  /** The dot of some threads was clicked. */
  readonly opened: (ids: readonly string[], dot: DOMRect) => void;
  /** A text is no longer being composed: marks may be drawn. */
  readonly settled: () => void;
  readonly dotOf: (ids: readonly string[]) => IDot;
}

const DOT = 'shoulders-ThreadDot';

/** What is drawn into any editor that is given the extension. */
export class EditorMarks {
  constructor(private readonly listener: ITextMarkListener) {
    this.extension = [
      this.field,
      this.dots,
      this.place.of([]),
      EditorView.domEventHandlers({ compositionend: () => listener.settled() })
    ];
  }

  /** An editor is given it once; it shows nothing without marks. */
  readonly extension: Extension;

  /** Show these marks; where they stand already, nothing is done. False: not now, see `settled`. */
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

  /** The marks of an editor where its text has them now. */
  in(state: EditorState): readonly ITextMark[] {
    return state.field(this.field, false) ?? [];
  }

  private gutter(): Extension {
    return gutter({
      class: 'shoulders-ThreadGutter',
      markers: ({ state }) => state.field(this.dots),
      domEventHandlers: {
        // The cursor stays where it is.
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
      shown.look === this.shown.look &&
      shown.label === this.shown.label
    );
  }

  /** For the mouse: gutters are hidden from screen readers, which have the commands and the badge of the cell. */
  override toDOM(): HTMLElement {
    const { look, label } = this.shown;
    const dot = document.createElement('span');
    dot.className = `${DOT} ${look}`;
    dot.title = label;
    dot.textContent = this.count > 1 ? String(this.count) : '';
    return dot;
  }
}

/** What is typed at either end of a marked text is not of it. */
function moved(mark: ITextMark, changes: ChangeDesc): ITextMark {
  const from = changes.mapPos(mark.from, 1);
  const to = Math.max(from, changes.mapPos(mark.to, -1));
  return from === mark.from && to === mark.to ? mark : { ...mark, from, to };
}

function underlined(marks: readonly ITextMark[]): DecorationSet {
  const ranges = marks
    .filter(({ from, to }) => from < to)
    .map(({ from, to, look }) =>
      Decoration.mark({ class: `shoulders-ThreadText ${look}` }).range(from, to)
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
        one.look === other.look &&
        one.label === other.label
      );
    })
  );
}
