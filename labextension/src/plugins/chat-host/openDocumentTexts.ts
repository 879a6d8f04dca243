/**
 * The current texts of the open documents of this page. Made with the panel; used by proposal cards, which report
 * when their text changed.
 */

import type { IEditorTracker } from '@jupyterlab/fileeditor';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';

import type { FilePanel } from '../../live-documents/openEditTargets';
import type { IOpenDocumentTexts } from '../../host/threadsHost';

/** Delay between two notifications while typing, in ms. */
const PAUSE = 250;

/** Reads open notebooks and files; lives as long as the page. */
export class OpenDocumentTexts implements IOpenDocumentTexts {
  constructor(
    private readonly notebooks: INotebookTracker | null,
    private readonly files: IEditorTracker | null
  ) {
    notebooks?.forEach(this.follow);
    notebooks?.widgetAdded.connect((_, panel) => this.follow(panel));
    files?.forEach(this.follow);
    files?.widgetAdded.connect((_, panel) => this.follow(panel));
  }

  readonly changed = new Signal<this, void>(this);

  textOf(document: string, cellId: string | null): string | null | undefined {
    return cellId === null
      ? this.ofFile(document)
      : this.ofCell(document, cellId);
  }

  private ofFile(document: string): string | undefined {
    const panel = this.files?.find(each => isReady(each, document));
    return panel?.content.model.sharedModel.getSource();
  }

  private ofCell(document: string, id: string): string | null | undefined {
    const panel = this.notebooks?.find(each => isReady(each, document));
    const cells = panel?.model?.sharedModel.cells;
    const cell = cells?.find(each => each.getId() === id);
    return cells && (cell?.getSource() ?? null);
  }

  private readonly follow = (panel: NotebookPanel | FilePanel): void => {
    const { context, disposed } = panel;
    void context.ready.then(this.later);
    context.model.contentChanged.connect(this.later);
    context.pathChanged.connect(this.later);
    disposed.connect(this.later);
  };

  private readonly later = (): void => {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.changed.emit();
    }, PAUSE);
  };

  private timer: ReturnType<typeof setTimeout> | undefined;
}

function isReady(
  { context }: NotebookPanel | FilePanel,
  document: string
): boolean {
  return context.isReady && context.localPath === document;
}
