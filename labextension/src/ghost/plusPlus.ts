/**
 * What every editor of the lab gets: `++` is noticed, both signs go, and the page is asked for suggestions. It loads
 * with the lab; what happens then does not (`page.ts`). Given to editors by the ghost plugin.
 */

import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';

import { isSecond, type IStroke } from './trigger';

/** The page, as an editor sees it. */
export interface IGhostPort {
  /** Whether `++` asks in this editor, at this offset. */
  mayAsk(view: EditorView, at: number): boolean;
  ask(view: EditorView): void;
  /** The text or the caret is another. */
  moved(view: EditorView): void;
}

/** The extension of one editor. */
export function plusPlus(port: IGhostPort): Extension {
  let first: IStroke | null = null;
  let key: KeyboardEvent | null = null;
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
      if (isSecond(last, from, time) && isPlain(view, from)) {
        const start = from - 1;
        if (port.mayAsk(view, start)) {
          view.dispatch({
            changes: { from: start, to: from },
            userEvent: 'delete'
          });
          port.ask(view);
          return true;
        }
      }
      first = { end: from + 1, time };
      return false;
    }),
    EditorView.updateListener.of(update => {
      if (update.docChanged || update.selectionSet) {
        port.moved(update.view);
      }
    })
  ];
}

/** One caret, in a text that can be changed, behind the first `+`. */
function isPlain({ state }: EditorView, at: number): boolean {
  return (
    !state.readOnly &&
    state.selection.ranges.length === 1 &&
    state.sliceDoc(at - 1, at) === '+'
  );
}
