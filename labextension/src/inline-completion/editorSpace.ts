/**
 * How wide the line with a suggestion may become: up to the edge of what one sees. Editors that do not wrap their lines
 * would show the beginning of a long suggestion only. Used by `ghostText.ts`; `style/documents/inline-completion.css`
 * wraps the line.
 */

import { ViewPlugin, type EditorView } from '@codemirror/view';

/** In px, on the editor. */
const ROOM = '--shoulders-ghost-room';

/** Keeps the width on an editor as long as it shows something. */
export function editorSpace(isShown: (view: EditorView) => boolean) {
  return ViewPlugin.define(view => {
    let set = '';
    const measure = {
      read: roomIn,
      write: (room: number): void => {
        const value = `${room}px`;
        if (value !== set) {
          set = value;
          view.dom.style.setProperty(ROOM, value);
          view.requestMeasure(); // Its line has another height now.
        }
      },
      key: ROOM
    };
    return {
      update: update => {
        if (isShown(update.view)) {
          update.view.requestMeasure(measure);
        }
      }
    };
  });
}

/** From the left edge of the text to the right edge of what is seen, in px. */
function roomIn({ scrollDOM, contentDOM }: EditorView): number {
  const seen = scrollDOM.getBoundingClientRect().left + scrollDOM.clientWidth;
  return Math.floor(seen - contentDOM.getBoundingClientRect().left);
}
