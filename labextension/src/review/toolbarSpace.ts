/**
 * Keeps the controls of changes clear of the lab's toolbar in the active cell and of the middle of its text: says how
 * wide the toolbar is, and which notebooks are too narrow for both. Used by the review of the page.
 */

import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';

/** Width of a control with all its buttons, in px. */
const CONTROL = 190;
/** Of the cell toolbar until it was measured. */
const TOOLBAR = 240;

/** The notebooks of the page. */
export class ToolbarSpace implements IDisposable {
  get isDisposed(): boolean {
    return this.disposed;
  }

  /** Fit a notebook when another cell is active, and whenever its size changes. */
  fit({ content: { node, activeCell } }: NotebookPanel): void {
    if (!this.active.has(node)) {
      this.observer.observe(node);
    }
    // What is typed changes nothing, and to measure costs a layout.
    if (this.active.get(node) !== activeCell) {
      this.active.set(node, activeCell);
      fit(node);
    }
  }

  dispose(): void {
    this.disposed = true;
    this.observer.disconnect();
  }

  private readonly observer = new ResizeObserver(entries =>
    entries.forEach(({ target }) => fit(target))
  );
  private readonly active = new WeakMap<HTMLElement, Cell | null>();
  private disposed = false;
}

function fit(node: Element): void {
  const active = node.querySelector('.jp-Cell.jp-mod-active');
  const editor = active?.querySelector('.jp-InputArea-editor');
  const toolbar = active?.querySelector<HTMLElement>('.jp-cell-toolbar');
  if (!(node instanceof HTMLElement) || !editor) {
    return;
  }
  const width = toolbar?.offsetWidth ?? 0;
  if (width > 0) {
    node.style.setProperty('--shoulders-cell-toolbar', `${width}px`);
  }
  // Further left, a click into the text would press "Undo".
  const room = editor.clientWidth / 2 - CONTROL;
  node.classList.toggle(
    'shoulders-mod-narrow',
    editor.clientWidth > 0 && room < (width > 0 ? width : TOOLBAR)
  );
}
