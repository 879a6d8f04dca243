/**
 * Marks of threads about a whole cell or an output: buttons in its prompt area. Used by `ThreadMarks`. Uses only the
 * nodes of cells, which survive scrolling.
 */

import type { ITextMarkListener } from './editorMarks';

/** One mark for one or more threads. */
export interface INodeMark {
  readonly ids: readonly string[];
  readonly classes: string;
  readonly label: string;
}

const HOLDER = 'shoulders-ThreadMark';
const THREADED = 'shoulders-mod-threaded';

/** Show a mark in the prompt area of a cell or an output; null removes it. */
export function drawNodeMark(
  node: HTMLElement,
  mark: INodeMark | null,
  { opened }: Pick<ITextMarkListener, 'opened'>
): void {
  const before = node.querySelector<HTMLElement>(`:scope > .${HOLDER}`);
  const said = mark === null ? undefined : JSON.stringify(mark);
  if (before?.dataset.said === said) {
    return;
  }
  const hadFocus = before?.contains(document.activeElement) === true;
  node.classList.toggle(THREADED, mark !== null);
  if (mark === null) {
    before?.remove();
    return;
  }
  // A reused button keeps its focus and animation.
  const button = before ?? addButton(node);
  button.dataset.said = said;
  button.title = mark.label;
  button.setAttribute('aria-label', mark.label);
  const dot = document.createElement('span');
  dot.className = `shoulders-ThreadDot ${mark.classes}`;
  dot.textContent = mark.ids.length > 1 ? String(mark.ids.length) : '';
  button.replaceChildren(dot);
  button.onclick = () => opened(mark.ids, button.getBoundingClientRect());
  if (hadFocus) {
    button.focus();
  }
}

function addButton(node: HTMLElement): HTMLElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = HOLDER;
  // Otherwise JupyterLab would handle Enter, and take a click for one on the cell.
  button.dataset.lmSuppressShortcuts = 'true';
  button.addEventListener('mousedown', event => event.stopPropagation());
  button.addEventListener('keydown', event => event.stopPropagation());
  node.append(button);
  return button;
}
