/** Scrolls to the agent's work in the visible documents. Used by the follower. */

import { CodeCell, type Cell } from '@jupyterlab/cells';
import type { CodeEditor } from '@jupyterlab/codeeditor';
import { CodeMirrorEditor } from '@jupyterlab/codemirror';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { IDocumentWidget } from '@jupyterlab/docregistry';
import type { FileEditor, IEditorTracker } from '@jupyterlab/fileeditor';
import type {
  INotebookTracker,
  Notebook,
  NotebookPanel
} from '@jupyterlab/notebook';
import type { EditorView } from '@codemirror/view';
import { Chunk } from '@codemirror/merge';
import { Text } from '@codemirror/state';

import { flashElement, flashLines, type IRange } from './flash';
import { scrollTo, stopScroll, type IExtent } from './scroll';
import type { IAgentActivity } from './agentActivity';

/** Services that are needed. */
export interface IFollowLab {
  readonly notebooks: INotebookTracker;
  readonly files: IEditorTracker | null;
  readonly documents: IDocumentManager;
}

type FilePanel = IDocumentWidget<FileEditor>;
export type DocumentPanel = NotebookPanel | FilePanel;

/** Longest wait for an added cell that is announced before it exists, in ms. */
const LATE = 1500;

export class FollowedDocuments {
  constructor(private readonly lab: IFollowLab) {}

  /** The visible documents. */
  get visible(): DocumentPanel[] {
    return this.all.filter(({ isVisible }) => isVisible);
  }

  /** Whether a document is visible. */
  shows(path: string): boolean {
    return this.visible.some(({ context }) => context.localPath === path);
  }

  /** Open the document of an activity, or bring it to the front. */
  async open({ path }: IAgentActivity): Promise<void> {
    const widget = this.lab.documents.openOrReveal(path);
    await widget?.context.ready;
  }

  /** Scroll to an activity in all visible views of its document, and flash the changes. */
  async reveal(work: IAgentActivity, isWanted: () => boolean): Promise<void> {
    const { notebooks, files } = this.lab;
    const isIt = ({ isVisible, context }: DocumentPanel): boolean =>
      isVisible && context.isReady && context.localPath === work.path;
    await Promise.all([
      ...notebooks
        .filter(isIt)
        .map(({ content }) => this.revealCell(content, work, isWanted)),
      ...(files?.filter(isIt) ?? []).map(({ content }) =>
        this.revealText(content.editor, work, isWanted)
      )
    ]);
  }

  /** Stop scrolling. */
  stop(): void {
    this.moving.forEach(stopScroll);
  }

  private get all(): DocumentPanel[] {
    const { notebooks, files } = this.lab;
    const every = (): boolean => true;
    return [...notebooks.filter(every), ...(files?.filter(every) ?? [])];
  }

  private async revealCell(
    notebook: Notebook,
    work: IAgentActivity,
    isWanted: () => boolean
  ): Promise<void> {
    const cell = await cellOf(notebook, work.cellId);
    if (cell === null || !isWanted()) {
      return;
    }
    if (!cell.node.isConnected) {
      // JupyterLab keeps no elements of distant cells: its own scrolling creates them.
      await notebook
        .scrollToItem(notebook.widgets.indexOf(cell), 'smart')
        .catch(() => undefined); // Interrupted by another scroll.
    }
    await this.move(notebook.outerNode, () => extentOf(cell, work), isWanted);
    if (isWanted()) {
      flashCell(cell, work);
    }
  }

  private async revealText(
    editor: CodeEditor.IEditor,
    work: IAgentActivity,
    isWanted: () => boolean
  ): Promise<void> {
    const view = viewOf(editor);
    const ranges = view === null ? [] : rangesIn(view, work);
    if (view === null || ranges.length === 0) {
      return;
    }
    await this.move(
      view.scrollDOM,
      () => extentOfLines(view, ranges),
      isWanted
    );
    if (isWanted()) {
      flashLines(view, ranges);
    }
  }

  private async move(
    scroller: Element,
    target: () => IExtent | null,
    isWanted: () => boolean
  ): Promise<void> {
    this.moving.add(scroller);
    await scrollTo(scroller, target, isWanted);
    this.moving.delete(scroller);
  }

  private readonly moving = new Set<Element>();
}

/** The cell with an id, waiting for it for a moment. */
async function cellOf(
  notebook: Notebook,
  id: string | null
): Promise<Cell | null> {
  const find = (): Cell | null =>
    notebook.widgets.find(({ model }) => model.id === id) ?? null;
  const { model } = notebook;
  return find() ?? (model === null ? null : await appearing(model.cells, find));
}

type Cells = NonNullable<Notebook['model']>['cells'];

function appearing(
  { changed }: Cells,
  find: () => Cell | null
): Promise<Cell | null> {
  return new Promise(resolve => {
    const done = (): void => {
      clearTimeout(timer);
      changed.disconnect(look);
      resolve(find());
    };
    const look = (): void => {
      // The notebook creates the widget on the same signal, possibly later.
      requestAnimationFrame(() => find() !== null && done());
    };
    const timer = setTimeout(done, LATE);
    changed.connect(look);
  });
}

/** The vertical extent of an activity in a cell. */
function extentOf(cell: Cell, work: IAgentActivity): IExtent | null {
  const view = editorOf(cell);
  const ranges = view === null ? [] : rangesIn(view, work);
  return view !== null && ranges.length > 0
    ? extentOfLines(view, ranges)
    : boundsOf(elementOf(cell, work));
}

function flashCell(cell: Cell, work: IAgentActivity): void {
  const view = editorOf(cell);
  const ranges = view === null ? [] : rangesIn(view, work);
  if (view !== null && ranges.length > 0) {
    flashLines(view, ranges);
  } else if (work.stage !== 'now') {
    flashElement(elementOf(cell, work));
  }
}

/** The element of a cell that shows an activity. */
function elementOf(cell: Cell, { stage }: IAgentActivity): Element {
  const part =
    stage === 'ran' && cell instanceof CodeCell && !cell.outputHidden
      ? cell.node.querySelector('.jp-Cell-outputWrapper')
      : cell.node.querySelector('.jp-Cell-inputWrapper');
  const isEmpty = (part?.getBoundingClientRect().height ?? 0) < 2;
  return part === null || isEmpty ? cell.node : part;
}

function boundsOf(element: Element): IExtent {
  const { top, bottom } = element.getBoundingClientRect();
  return { top, bottom };
}

/** The changed ranges that an editor shows. */
function rangesIn(view: EditorView, work: IAgentActivity): IRange[] {
  return work.edit === null || view.dom.offsetHeight === 0
    ? []
    : changedLines(work.edit, view.state.doc.toString());
}

function extentOfLines(
  view: EditorView,
  ranges: readonly IRange[]
): IExtent | null {
  const [first] = ranges;
  if (first === undefined) {
    return null;
  }
  const { length } = view.state.doc;
  const top = view.lineBlockAt(Math.min(first.from, length)).top;
  const { bottom } = view.lineBlockAt(Math.min(first.to, length));
  return { top: view.documentTop + top, bottom: view.documentTop + bottom };
}

function editorOf(cell: Cell): EditorView | null {
  return cell.inputHidden ? null : viewOf(cell.editor);
}

function viewOf(editor: CodeEditor.IEditor | null): EditorView | null {
  return editor instanceof CodeMirrorEditor && !editor.isDisposed
    ? editor.editor
    : null;
}

/** With more changes the text is flashed as a whole. */
const MAX_CHANGES = 50;

/** The ranges of `text` that `edit` changed; none if its text is no longer there. */
export function changedLines(
  edit: { readonly before: string; readonly after: string },
  text: string
): IRange[] {
  const after = Text.of(edit.after.split('\n'));
  const chunks = Chunk.build(Text.of(edit.before.split('\n')), after);
  if (chunks.length > MAX_CHANGES) {
    return [];
  }
  return chunks.flatMap(({ fromB, toB }) => {
    const from = Math.min(fromB, after.length);
    const to = Math.max(from, Math.min(toB, after.length + 1) - 1);
    const written = after.sliceString(from, to);
    if (edit.after === text) {
      return [{ from, to }];
    }
    // The text was changed since.
    const found = written.trim() === '' ? -1 : text.indexOf(written);
    return found < 0 ? [] : [{ from: found, to: found + written.length }];
  });
}
