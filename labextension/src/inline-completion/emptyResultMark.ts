/**
 * A short mark at the caret when there is no suggestion. A CodeMirror extension, part of `ghostText.ts`; the page
 * informs screen readers.
 */

import { StateEffect, StateField, type Extension } from '@codemirror/state';
import {
  Decoration,
  EditorView,
  WidgetType,
  type DecorationSet
} from '@codemirror/view';

/** Duration in ms: two blinks of `inline-completion.css`. */
export const SHOWN_MS = 800;

const shown = StateEffect.define<boolean>();

class Mark extends WidgetType {
  override eq(): boolean {
    return true;
  }

  override ignoreEvent(): boolean {
    return false;
  }

  override toDOM(): HTMLElement {
    const node = document.createElement('span');
    node.className = 'shoulders-GhostNothing';
    node.setAttribute('aria-hidden', 'true');
    return node;
  }
}

/** The extension; typing or moving the caret removes the mark. */
export const emptyResultMark: Extension = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (marks, { effects, docChanged, selection, state }) => {
    const said = effects.find(effect => effect.is(shown));
    if (said === undefined) {
      return docChanged || selection !== undefined ? Decoration.none : marks;
    }
    const { head } = state.selection.main;
    const mark = Decoration.widget({ widget: new Mark(), side: 1 });
    return said.value ? Decoration.set([mark.range(head)]) : Decoration.none;
  },
  provide: field => EditorView.decorations.from(field)
});

/** Show the mark at the caret for a moment. */
export function blink(view: EditorView): void {
  view.dispatch({ effects: shown.of(true) });
  setTimeout(() => {
    if (view.dom.isConnected) {
      view.dispatch({ effects: shown.of(false) });
    }
  }, SHOWN_MS);
}
