/**
 * A small button beside what is selected in an editor of a notebook or file: "Ask AI". It never takes the focus; the
 * keyboard has the command. Owned by the page's inline actions.
 */

import type { TranslationBundle } from '@jupyterlab/translation';
import type { LabIcon } from '@jupyterlab/ui-components';
import { EditorView } from '@codemirror/view';

const GAP = 4;

/** Finds out whether a selection can be asked about, and asks. */
export interface ISelectionActions {
  /** Whether an editor belongs to a document. */
  canAsk(view: EditorView): boolean;
  ask(): void;
}

/** The one button of the page. */
export class SelectionButton {
  constructor(
    private readonly actions: ISelectionActions,
    icon: LabIcon,
    trans: TranslationBundle
  ) {
    this.node = makeButton(icon, trans, () => {
      this.hide();
      actions.ask();
    });
    document.addEventListener('selectionchange', this.later);
    document.addEventListener('pointerdown', this.onPointer, true);
    document.addEventListener('pointerup', this.onPointer, true);
    document.addEventListener('scroll', this.hide, { capture: true });
    document.addEventListener('focusout', this.later);
  }

  /** Not while the mouse is still selecting. */
  private readonly onPointer = (event: Event): void => {
    if (!this.node.contains(event.target as Node | null)) {
      this.isSelecting = event.type === 'pointerdown';
      this.later();
    }
  };

  private readonly later = (): void => {
    if (!this.isWaiting) {
      this.isWaiting = true;
      requestAnimationFrame(() => {
        this.isWaiting = false;
        this.place();
      });
    }
  };

  private place(): void {
    const view = this.isSelecting ? null : focusedEditor();
    const place =
      view === null || !hasSelection(view) || !this.actions.canAsk(view)
        ? null
        : placeOf(view);
    if (place === null) {
      this.hide();
      return;
    }
    if (!this.node.isConnected) {
      document.body.append(this.node);
    }
    const { offsetWidth, offsetHeight } = this.node;
    const left = Math.min(place.left, place.edge - offsetWidth - GAP);
    const above = place.top - offsetHeight - GAP;
    const below = place.bottom + GAP;
    const isBelow = place.isForward || above < 0;
    this.node.style.left = `${Math.max(0, left)}px`;
    this.node.style.top = `${isBelow ? below : above}px`;
  }

  private readonly hide = (): void => {
    this.node.remove();
  };

  private readonly node: HTMLButtonElement;
  private isSelecting = false;
  private isWaiting = false;
}

/** The editor with the cursor. */
function focusedEditor(): EditorView | null {
  const active = document.activeElement;
  const editor = active?.closest<HTMLElement>('.cm-editor') ?? null;
  return editor === null ? null : EditorView.findFromDOM(editor);
}

interface IPlace {
  readonly left: number;
  readonly top: number;
  readonly bottom: number;
  /** Where the editor ends. */
  readonly edge: number;
  /** Whether what is selected stands before the cursor. */
  readonly isForward: boolean;
}

function hasSelection({ state }: EditorView): boolean {
  const { from, to } = state.selection.main;
  return from !== to && state.sliceDoc(from, to).trim() !== '';
}

/** Beside the end of the selection the cursor is at; null when that is out of view. */
function placeOf(view: EditorView): IPlace | null {
  const { main } = view.state.selection;
  const at = view.coordsAtPos(main.head);
  if (at === null) {
    return null;
  }
  const { right: edge, top, bottom } = view.scrollDOM.getBoundingClientRect();
  return at.top < top - 1 || at.bottom > bottom + 1
    ? null
    : {
        left: at.left,
        top: at.top,
        bottom: at.bottom,
        edge,
        isForward: main.head === main.to
      };
}

function makeButton(
  icon: LabIcon,
  trans: TranslationBundle,
  act: () => void
): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'shoulders-SelectionButton';
  button.tabIndex = -1;
  button.textContent = trans.__('Ask AI');
  button.title = trans.__('Ask AI about the selected text');
  button.prepend(icon.element({ tag: 'span' }));
  // The caret and the selection stay where they are.
  button.addEventListener('mousedown', event => event.preventDefault());
  button.addEventListener('click', act);
  return button;
}
