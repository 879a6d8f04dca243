/**
 * Keeps change controls clear of JupyterLab's cell toolbar and of the middle of the text: measures the toolbar and
 * marks notebooks too narrow for both. Used by `ReviewController`.
 */

import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';

/** Width of a control with all its buttons, in px. */
const CONTROL = 190;
/** Width of the cell toolbar before it is measured, in px. */
const TOOLBAR = 240;

export class ToolbarSpace implements IDisposable {
  get isDisposed(): boolean {
    return this.disposed;
  }

  /** Measure a notebook when its active cell or its size changes. */
  fit({ content: { node, activeCell } }: NotebookPanel): void {
    if (!this.active.has(node)) {
      this.observer.observe(node);
    }
    // Typing changes nothing, and measuring forces a layout.
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
  // Further left, a click into the text would hit "Undo".
  const room = editor.clientWidth / 2 - CONTROL;
  node.classList.toggle(
    'shoulders-mod-narrow',
    editor.clientWidth > 0 && room < (width > 0 ? width : TOOLBAR)
  );
}
