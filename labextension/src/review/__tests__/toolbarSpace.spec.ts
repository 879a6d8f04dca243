/** The space for change controls beside the toolbar of the active cell. */

import type { NotebookPanel } from '@jupyterlab/notebook';
import { afterEach, expect, test, vi } from 'vitest';

import { ToolbarSpace } from '../toolbarSpace';

class NoObserver {
  observe(): void {}
  disconnect(): void {}
}

/** A notebook whose active cell has this width. */
function notebook(width: number, toolbar: number): HTMLElement {
  const node = document.createElement('div');
  node.innerHTML =
    '<div class="jp-Cell jp-mod-active">' +
    '<div class="jp-InputArea-editor"></div><div class="jp-cell-toolbar"></div></div>';
  const [editor, tools] = node.querySelectorAll('.jp-Cell > div');
  Object.defineProperty(editor, 'clientWidth', { value: width });
  Object.defineProperty(tools, 'offsetWidth', { value: toolbar });
  return node;
}

afterEach(() => {
  vi.unstubAllGlobals();
});

test.each([
  { width: 565, toolbar: 240, isNarrow: true },
  { width: 565, toolbar: 0, isNarrow: true },
  { width: 850, toolbar: 240, isNarrow: true },
  { width: 870, toolbar: 240, isNarrow: false },
  { width: 0, toolbar: 0, isNarrow: false }
])(
  'controls keep out of the left half of the text: %o',
  ({ width, toolbar, isNarrow }) => {
    vi.stubGlobal('ResizeObserver', NoObserver);
    const node = notebook(width, toolbar);
    const content = { node, activeCell: {} };
    // Only these members of the panel are read.
    const room = new ToolbarSpace();
    room.fit({ content } as unknown as NotebookPanel);
    room.dispose();
    expect(node.classList.contains('shoulders-mod-narrow')).toBe(isNarrow);
  }
);
