/**
 * What every editor of the lab gets: `++` is noticed, both signs go, and the page is asked for suggestions. It loads
 * with the lab; what happens then does not (`controller.ts`). Given to editors by the inline completion plugin.
 */

import { Text, type Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';

/** The page, as an editor sees it. */
export interface IDoublePlusListener {
  /** Whether `++` asks in this editor, at this offset; null while that is not known yet. */
  mayAsk(view: EditorView, at: number): boolean | null;
  /** Settled when it is known, or never will be. */
  known(): Promise<void>;
  ask(view: EditorView): void;
  /** The text or the caret is another. */
  moved(view: EditorView): void;
}

/** The extension of one editor. */
export function doublePlusTrigger(port: IDoublePlusListener): Extension {
  let first: IStroke | null = null;
  let key: KeyboardEvent | null = null;
  let moves = 0;
  /** Whether the second one is not typed. */
  const onSecond = (view: EditorView, from: number): boolean => {
    const start = from - 1;
    const mayAsk = port.mayAsk(view, start);
    if (mayAsk === true) {
      askInstead(port, view, start, from);
    } else if (mayAsk === null) {
      void askLater(view, start);
    }
    return mayAsk === true;
  };
  /** Both signs stand there until the page knows; if nothing has happened since, they go then. */
  const askLater = async (view: EditorView, start: number): Promise<void> => {
    const { doc } = view.state;
    const expected = moves + 1;
    await port.known();
    if (
      moves === expected &&
      view.state.doc.eq(doc.replace(start + 1, start + 1, Text.of(['+']))) &&
      port.mayAsk(view, start) === true
    ) {
      askInstead(port, view, start, start + 2);
    }
  };
  return [
    EditorView.domEventObservers({
      keydown: event => {
        key = event;
      }
    }),
    EditorView.inputHandler.of((view, from, to, text) => {
      // When the key went down: however long the page needs for each, that is what the user did.
      const time = key?.timeStamp ?? performance.now();
      const isHeld = key?.repeat === true;
      key = null;
      const last = first;
      first = null;
      if (text !== '+' || from !== to || isHeld) {
        return false;
      }
      const isDouble = isDoubleStroke(last, from, time) && isPlain(view, from);
      if (isDouble && onSecond(view, from)) {
        return true;
      }
      first = { end: from + 1, time };
      return false;
    }),
    EditorView.updateListener.of(update => {
      if (update.docChanged || update.selectionSet) {
        moves += 1;
        port.moved(update.view);
      }
    })
  ];
}

/** The signs go, and the page is asked where they were. */
function askInstead(
  port: IDoublePlusListener,
  view: EditorView,
  from: number,
  to: number
): void {
  view.dispatch({ changes: { from, to }, userEvent: 'delete' });
  port.ask(view);
}

/** One caret, in a text that can be changed, behind the first `+`. */
function isPlain({ state }: EditorView, at: number): boolean {
  return (
    !state.readOnly &&
    state.selection.ranges.length === 1 &&
    state.sliceDoc(at - 1, at) === '+'
  );
}

/** The second stroke comes within this time of the first, in ms (chapter 10). */
export const DOUBLE_MS = 300;

/** A `+` that was typed. */
export interface IStroke {
  /** Offset behind it. */
  readonly end: number;
  /** When its key went down, in ms of any clock that both strokes share. */
  readonly time: number;
}

/** Whether a `+` typed at an offset is the second one. */
export function isDoubleStroke(
  first: IStroke | null,
  at: number,
  time: number
): boolean {
  return first?.end === at && time - first.time <= DOUBLE_MS;
}
