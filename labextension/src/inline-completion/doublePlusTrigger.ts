/**
 * The `++` trigger of every editor: removes both characters and requests suggestions. Loaded at start-up, unlike
 * `controller.ts`. Installed by the inline completion plugin.
 */

import { Text, type Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';

/** Callbacks of an editor to the page. */
export interface IDoublePlusListener {
  /** Whether `++` in this editor, at this offset, requests suggestions; null while unknown. */
  canRequest(view: EditorView, at: number): boolean | null;
  /** Settled when it is known, or never will be. */
  settingsLoaded(): Promise<void>;
  request(view: EditorView): void;
  /** The text or the caret changed. */
  moved(view: EditorView): void;
}

/** The extension for one editor. */
export function doublePlusTrigger(port: IDoublePlusListener): Extension {
  let first: IStroke | null = null;
  let key: KeyboardEvent | null = null;
  let moves = 0;
  /** Handle the second `+`; returns whether it is swallowed. */
  const onSecond = (view: EditorView, from: number): boolean => {
    const start = from - 1;
    const mayAsk = port.canRequest(view, start);
    if (mayAsk === true) {
      replaceByRequest(port, view, start, from);
    } else if (mayAsk === null) {
      void askLater(view, start);
    }
    return mayAsk === true;
  };
  /** Leave both characters until the page knows; remove them then if nothing has changed. */
  const askLater = async (view: EditorView, start: number): Promise<void> => {
    const { doc } = view.state;
    const expected = moves + 1;
    await port.settingsLoaded();
    if (
      moves === expected &&
      view.state.doc.eq(doc.replace(start + 1, start + 1, Text.of(['+']))) &&
      port.canRequest(view, start) === true
    ) {
      replaceByRequest(port, view, start, start + 2);
    }
  };
  return [
    EditorView.domEventObservers({
      keydown: event => {
        key = event;
      }
    }),
    EditorView.inputHandler.of((view, from, to, text) => {
      // When the key went down, independent of the page's delays.
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

/** Remove the characters and request suggestions there. */
function replaceByRequest(
  port: IDoublePlusListener,
  view: EditorView,
  from: number,
  to: number
): void {
  view.dispatch({ changes: { from, to }, userEvent: 'delete' });
  port.request(view);
}

/** Whether the editor has one caret, is editable, and the first `+` is before the position. */
function isPlain({ state }: EditorView, at: number): boolean {
  return (
    !state.readOnly &&
    state.selection.ranges.length === 1 &&
    state.sliceDoc(at - 1, at) === '+'
  );
}

/** Longest time between the two keystrokes, in ms. */
export const DOUBLE_MS = 300;

/** A typed `+`. */
export interface IStroke {
  /** Offset behind it. */
  readonly end: number;
  /** Time of its keydown in ms; both keystrokes use the same clock. */
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
