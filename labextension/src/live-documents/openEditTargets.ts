/** Cells of open notebooks and open text files as targets of in-place edits. Used by inline actions. */

import type { YCellType, YFile } from '@jupyter/ydoc';
import { MarkdownCell, type Cell } from '@jupyterlab/cells';
import { CodeMirrorEditor } from '@jupyterlab/codemirror';
import type {
  DocumentRegistry,
  IDocumentWidget
} from '@jupyterlab/docregistry';
import type { FileEditor } from '@jupyterlab/fileeditor';
import { NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import type { ISharedNotebookWithCells } from './notebooks/sharedNotebook';
import { textChanges } from '../text/edits';
import type { Attachment } from '../wire/generated';
import { wholeLines, type ITextRange } from '../text/proposedText';
import type { ITextTarget, EditRefusal } from './editTarget';

/** A text file in an editor. */
export type FilePanel = IDocumentWidget<FileEditor>;

/** A cell of an open notebook. */
export class CellTarget implements ITextTarget, IDisposable {
  constructor(
    readonly panel: NotebookPanel,
    readonly cellId: string,
    /** The selection, when only that is edited. */
    readonly part: ITextRange | null
  ) {
    panel.context.model.contentChanged.connect(this.onContent, this);
  }

  readonly changed = new Signal<this, void>(this);
  isDisposed = false;

  get path(): string {
    return this.panel.context.localPath;
  }

  get number(): number | null {
    const { index } = this.find();
    return index < 0 ? null : index + 1;
  }

  get isProse(): boolean {
    return this.find().cell?.cell_type !== 'code';
  }

  /** The widget of the cell. */
  get widget(): Cell | undefined {
    return this.panel.content.widgets.find(
      ({ model }) => model.id === this.cellId
    );
  }

  text(): string | null {
    return this.find().cell?.getSource() ?? null;
  }

  refusal(): EditRefusal | null {
    const { cell } = this.find();
    if (cell === undefined) {
      return 'gone';
    }
    if (!isWritable(this.panel.context)) {
      return 'read-only-document';
    }
    return cell.getMetadata('editable') === false ? 'read-only-cell' : null;
  }

  write(text: string): void {
    const { cell } = this.find();
    if (cell !== undefined) {
      replace(cell, text);
    }
  }

  insertBelow(text: string, isMarkdown: boolean): boolean {
    const { index } = this.find();
    if (index < 0) {
      return false;
    }
    const shared = sharedOf(this.panel);
    shared.undoManager.stopCapturing();
    shared.insertCell(
      index + 1,
      isMarkdown
        ? { cell_type: 'markdown', source: text, metadata: {} }
        : { cell_type: 'code', source: text, metadata: { trusted: true } }
    );
    shared.undoManager.stopCapturing();
    const { content } = this.panel;
    content.activeCellIndex = index + 1;
    content.deselectAll();
    void content.scrollToItem(index + 1, 'smart');
    return true;
  }

  surroundings(): Attachment[] {
    const { path, cellId } = this;
    return [
      { kind: 'cell', path, cell_id: cellId },
      { kind: 'file', path }
    ];
  }

  focus(): void {
    const { widget } = this;
    const { content } = this.panel;
    if (widget !== content.activeCell || isRendered(widget)) {
      void NotebookActions.focusActiveCell(content);
    } else {
      content.mode = 'edit';
      widget.editor?.focus();
    }
  }

  dispose(): void {
    if (!this.isDisposed) {
      this.isDisposed = true;
      const { context } = this.panel;
      if (!context.isDisposed) {
        context.model.contentChanged.disconnect(this.onContent, this);
      }
      Signal.clearData(this);
    }
  }

  private find(): { cell: YCellType | undefined; index: number } {
    if (this.panel.isDisposed) {
      return { cell: undefined, index: -1 };
    }
    const { cells } = sharedOf(this.panel);
    const index = cells.findIndex(({ id }) => id === this.cellId);
    return { cell: cells[index], index };
  }

  /** Outputs count as content too and may come by the thousand. */
  private readonly onContent = (): void => {
    const now = JSON.stringify([this.number, this.refusal(), this.text()]);
    if (now !== this.known) {
      this.known = now;
      this.changed.emit();
    }
  };

  private known = '';
}

/** A text file in an editor. */
export class FileTarget implements ITextTarget, IDisposable {
  constructor(
    readonly panel: FilePanel,
    readonly part: ITextRange | null
  ) {
    panel.context.model.contentChanged.connect(this.onContent, this);
  }

  readonly changed = new Signal<this, void>(this);
  readonly cellId = null;
  readonly number = null;
  isDisposed = false;

  get path(): string {
    return this.panel.context.localPath;
  }

  get isProse(): boolean {
    const { mimeType } = this.panel.content.model;
    return /^text\/(plain$|x-rst$|x-markdown|markdown|x-ipythongfm)/.test(
      mimeType
    );
  }

  text(): string | null {
    return this.panel.isDisposed ? null : this.shared.getSource();
  }

  refusal(): EditRefusal | null {
    if (this.panel.isDisposed) {
      return 'gone';
    }
    return isWritable(this.panel.context) ? null : 'read-only-document';
  }

  write(text: string): void {
    replace(this.shared, text);
  }

  insertBelow(): boolean {
    return false;
  }

  surroundings(): Attachment[] {
    return [{ kind: 'file', path: this.path }];
  }

  focus(): void {
    this.panel.content.editor.focus();
  }

  dispose(): void {
    if (!this.isDisposed) {
      this.isDisposed = true;
      const { context } = this.panel;
      if (!context.isDisposed) {
        context.model.contentChanged.disconnect(this.onContent, this);
      }
      Signal.clearData(this);
    }
  }

  private get shared(): YFile {
    // The model's shared text is the YFile; its interface type lacks the undo manager.
    return this.panel.context.model.sharedModel as unknown as YFile;
  }

  private readonly onContent = (): void => {
    this.changed.emit();
  };
}

/** The selection in an editor, several lines as whole lines; null when it is empty. */
export function selectedPart(editor: unknown): ITextRange | null {
  if (!(editor instanceof CodeMirrorEditor)) {
    return null;
  }
  const { doc, selection } = editor.editor.state;
  const { from, to, empty } = selection.main;
  return empty ? null : wholeLines(doc.toString(), { from, to });
}

export function isRendered(cell: Cell | null | undefined): boolean {
  return cell instanceof MarkdownCell && cell.rendered;
}

function isWritable({
  model,
  contentsModel
}: DocumentRegistry.IContext<DocumentRegistry.IModel>): boolean {
  return !model.readOnly && contentsModel?.writable !== false;
}

/** Replace a shared text with minimal changes, as one separate undo step. */
function replace(shared: YCellType | YFile, text: string): void {
  const changes = textChanges(shared.getSource(), text);
  shared.undoManager?.stopCapturing();
  shared.transact(() => {
    // Last change first: offsets refer to the text before all changes.
    for (const { from, to, insert } of changes.reverse()) {
      shared.updateSource(from, to, insert);
    }
  });
  shared.undoManager?.stopCapturing();
}

function sharedOf(panel: NotebookPanel): ISharedNotebookWithCells {
  // NotebookModel.sharedModel is the YNotebook; its interface type lacks the Y-side members used here.
  return panel.context.model.sharedModel as unknown as ISharedNotebookWithCells;
}
