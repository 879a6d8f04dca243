/**
 * The "Ask AI" button beside a selection in an editor of a notebook or file, or in a Word page. It never takes the focus; the command
 * serves the keyboard. Owned by `InlineActionsController`.
 */

import type { TranslationBundle } from '@jupyterlab/translation';
import type { LabIcon } from '@jupyterlab/ui-components';
import { EditorView } from '@codemirror/view';

import type { ISelectionPosition } from '../live-documents/wordPages';

const GAP = 4;

/** Checks whether a selection can be asked about, and asks. */
export interface ISelectionActions {
  /** Whether an editor belongs to a document. */
  canAsk(view: EditorView): boolean;
  /** The end of the selection in a Word page; null without one in view. */
  pagePosition(): ISelectionPosition | null;
  ask(): void;
}

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
    document.addEventListener('selectionchange', this.drawLater);
    document.addEventListener('pointerdown', this.onPointer, true);
    document.addEventListener('pointerup', this.onPointer, true);
    document.addEventListener('scroll', this.hide, { capture: true });
    document.addEventListener('focusout', this.drawLater);
  }

  /** Not while the mouse is still selecting. */
  private readonly onPointer = (event: Event): void => {
    if (!this.node.contains(event.target as Node | null)) {
      this.isSelecting = event.type === 'pointerdown';
      this.drawLater();
    }
  };

  private readonly drawLater = (): void => {
    if (!this.isWaiting) {
      this.isWaiting = true;
      requestAnimationFrame(() => {
        this.isWaiting = false;
        this.draw();
      });
    }
  };

  private draw(): void {
    const place = this.isSelecting ? null : this.position();
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

  private position(): IButtonPosition | null {
    const view = focusedEditor();
    if (view === null) {
      const place = this.actions.pagePosition();
      return place && { ...place, isForward: true };
    }
    return hasSelection(view) && this.actions.canAsk(view)
      ? buttonPositionOf(view)
      : null;
  }

  private readonly hide = (): void => {
    this.node.remove();
  };

  private readonly node: HTMLButtonElement;
  private isSelecting = false;
  private isWaiting = false;
}

/** The focused editor. */
function focusedEditor(): EditorView | null {
  const active = document.activeElement;
  const editor = active?.closest<HTMLElement>('.cm-editor') ?? null;
  return editor === null ? null : EditorView.findFromDOM(editor);
}

interface IButtonPosition extends ISelectionPosition {
  /** Whether the selection is before the cursor. */
  readonly isForward: boolean;
}

function hasSelection({ state }: EditorView): boolean {
  const { from, to } = state.selection.main;
  return from !== to && state.sliceDoc(from, to).trim() !== '';
}

/** The position beside the end of the selection with the cursor; null when that is out of view. */
function buttonPositionOf(view: EditorView): IButtonPosition | null {
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
  // Keep the caret and the selection.
  button.addEventListener('mousedown', event => event.preventDefault());
  button.addEventListener('click', act);
  return button;
}
