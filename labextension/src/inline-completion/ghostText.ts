/**
 * Shows suggestions in an editor: dots while they are awaited, then muted text at the caret with a badge. Any edit or
 * caret move, and a read-only state, removes them. A CodeMirror extension; knows neither JupyterLab nor the server.
 * Installed by `controller.ts` at an editor's first request.
 */

import {
  StateEffect,
  StateField,
  type EditorState,
  type Extension,
  type Transaction
} from '@codemirror/state';
import {
  Decoration,
  EditorView,
  ViewPlugin,
  WidgetType,
  type DecorationSet
} from '@codemirror/view';

import { legible } from '../text/hiddenCharacters';
import { emptyResultMark } from './emptyResultMark';
import {
  advance,
  shownSuggestion,
  type SuggestionEvent,
  type ISuggestionState
} from './suggestionState';

/** Class of an editor that shows a suggestion, for the key bindings. */
const ACTIVE_CLASS = 'shoulders-mod-ghostActive';
/** Class of an editor that waits for a suggestion. */
const LOADING_CLASS = 'shoulders-mod-ghostLoading';

/** Called when an editor's state changed; null means nothing is shown, also in a removed editor. */
export type SuggestionListener = (
  view: EditorView,
  ghost: ISuggestionState | null
) => void;

const step = StateEffect.define<SuggestionEvent>();

const field = StateField.define<ISuggestionState | null>({
  create: () => null,
  update: next,
  provide: self => [
    EditorView.decorations.compute([self, 'selection'], decorationsOf),
    EditorView.editorAttributes.from(self, attributesOf)
  ]
});

function next(
  ghost: ISuggestionState | null,
  transaction: Transaction
): ISuggestionState | null {
  const steps = transaction.effects.filter(effect => effect.is(step));
  if (steps.length > 0) {
    return steps.reduce((now, { value }) => advance(now, value), ghost);
  }
  const { startState, state, docChanged } = transaction;
  const isMoved = !startState.selection.eq(state.selection);
  return docChanged || isMoved || state.readOnly ? null : ghost;
}

/** The extension for an editor; shows nothing before the first request. */
export function suggestionView(listener: SuggestionListener): Extension {
  return [
    field,
    emptyResultMark,
    widthProperty(({ state }) => suggestionsIn(state) !== null),
    // When the focus moves within the page, suggestions are removed; when it moves to another window, they stay.
    EditorView.focusChangeEffect.of((state, focusing) =>
      !focusing && suggestionsIn(state) !== null && document.hasFocus()
        ? step.of({ type: 'drop' })
        : null
    ),
    EditorView.updateListener.of(({ view, startState, state }) => {
      const ghost = suggestionsIn(state);
      if (ghost !== suggestionsIn(startState)) {
        listener(view, ghost);
      }
    }),
    ViewPlugin.define(view => ({ destroy: () => listener(view, null) }))
  ];
}

/** Whether an editor has the extension. */
export function hasSuggestionView({ state }: EditorView): boolean {
  return state.field(field, false) !== undefined;
}

/** The suggestions in an editor; null without any. */
export function suggestionsIn(state: EditorState): ISuggestionState | null {
  return state.field(field, false) ?? null;
}

/** Apply an event to an editor's suggestions. */
export function updateSuggestions(
  view: EditorView,
  event: SuggestionEvent
): void {
  view.dispatch({ effects: step.of(event) });
}

/** Insert the beginning of the shown suggestion and put the caret behind it. */
export function acceptSuggestion(view: EditorView, text: string): void {
  const { head } = view.state.selection.main;
  const insert = view.state.toText(text);
  view.dispatch({
    changes: { from: head, insert },
    selection: { anchor: head + insert.length },
    effects: step.of({ type: 'take', text }),
    userEvent: 'input.complete',
    scrollIntoView: true
  });
}

function attributesOf(ghost: ISuggestionState | null): Record<string, string> {
  return ghost === null
    ? {}
    : { class: ghost.phase === 'active' ? ACTIVE_CLASS : LOADING_CLASS };
}

function decorationsOf(state: EditorState): DecorationSet {
  const ghost = suggestionsIn(state);
  if (ghost === null) {
    return Decoration.none;
  }
  const shown = shownSuggestion(ghost);
  const widget =
    shown === null ? new Dots() : new GhostText(shown, badgeOf(ghost));
  const { head } = state.selection.main;
  return Decoration.set([Decoration.widget({ widget, side: 1 }).range(head)]);
}

/** Position and number of suggestions; `…` while more may come. Digits and punctuation only. */
function badgeOf({ index, suggestions, isComplete }: ISuggestionState): string {
  const { length } = suggestions;
  if (!isComplete) {
    return `${index + 1}/${length}…`;
  }
  return length === 1 ? '' : `${index + 1}/${length}`;
}

/** Hidden from screen readers: not part of the text, and announced by the page. */
abstract class CaretWidget extends WidgetType {
  override ignoreEvent(): boolean {
    return false;
  }

  protected make(className: string): HTMLElement {
    const node = document.createElement('span');
    node.className = className;
    node.setAttribute('aria-hidden', 'true');
    return node;
  }
}

class Dots extends CaretWidget {
  override eq(): boolean {
    return true;
  }

  override toDOM(): HTMLElement {
    const node = this.make('shoulders-GhostDots');
    node.append(...[0, 1, 2].map(() => document.createElement('span')));
    return node;
  }
}

class GhostText extends CaretWidget {
  constructor(
    private readonly text: string,
    private readonly badge: string
  ) {
    super();
  }

  override eq(other: GhostText): boolean {
    return other.text === this.text && other.badge === this.badge;
  }

  override get lineBreaks(): number {
    return this.text.split('\n').length - 1;
  }

  override toDOM(): HTMLElement {
    const node = this.make('shoulders-Ghost');
    const words = document.createElement('span');
    words.className = 'shoulders-Ghost-text';
    words.textContent = legible(this.text);
    node.append(words);
    if (this.badge !== '') {
      const badge = document.createElement('span');
      badge.className = 'shoulders-Ghost-badge';
      badge.textContent = this.badge;
      node.append(badge);
    }
    return node;
  }
}

/** CSS property of the editor, in px. */
const WIDTH_PROPERTY = '--shoulders-ghost-room';

/**
 * Keep the width property up to date while the editor shows something: editors that do not wrap lines would cut a
 * long suggestion. `style/documents/inline-completion.css` wraps the line.
 */
export function widthProperty(isShown: (view: EditorView) => boolean) {
  return ViewPlugin.define(view => {
    let set = '';
    const measure = {
      read: availableWidth,
      write: (room: number): void => {
        const value = `${room}px`;
        if (value !== set) {
          set = value;
          view.dom.style.setProperty(WIDTH_PROPERTY, value);
          view.requestMeasure(); // The line's height changed.
        }
      },
      key: WIDTH_PROPERTY
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

/** From the left edge of the text to the right edge of the viewport, in px. */
function availableWidth({ scrollDOM, contentDOM }: EditorView): number {
  const seen = scrollDOM.getBoundingClientRect().left + scrollDOM.clientWidth;
  return Math.floor(seen - contentDOM.getBoundingClientRect().left);
}
