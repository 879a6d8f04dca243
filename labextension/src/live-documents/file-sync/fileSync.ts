/**
 * Keeps an open document and its file together when others write the file: another page, the server while this page
 * was disconnected, git, another editor. Merges their changes without a reload, so that no typing is lost and the
 * next save finds the file it knows. The base of `NotebookFileSync` and `TextFileSync`.
 */

import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { Contents } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

/** The contents manager's part that reads files. */
export type IFiles = Pick<Contents.IManager, 'get'>;

/** Members of JupyterLab's context that are not public, so they may be missing. */
interface IPrivateContext {
  _updateContentsModel?: (file: Contents.IModel) => void;
  _lineEnding?: string | null;
}

/** Merges a file into its document; returns whether it did. */
export type MergeFile = (file: Contents.IModel) => boolean;

/** Follows loads and saves of one document. A `Baseline` is the document as the page last read or wrote it. */
export abstract class FileSync<
  Context extends DocumentRegistry.IContext<DocumentRegistry.IModel>,
  Baseline
> implements IDisposable {
  constructor(
    protected readonly context: Context,
    private readonly files: IFiles,
    private readonly request: Contents.IFetchOptions
  ) {
    context.saveState.connect(this.onSaveState, this);
    context.fileChanged.connect(this.onFileChanged, this);
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  dispose(): void {
    this.disposed = true;
    Signal.clearData(this);
  }

  /** Merge the file's current content; returns whether anything was done. */
  async mergeChanges(): Promise<boolean> {
    if (!this.isQuiet()) {
      this.postponed ??= () => this.mergeChanges(); // The save in progress meets the file first.
      return false;
    }
    const { context } = this;
    if (context.model.collaborative || !(await this.isOutdated())) {
      return false;
    }
    const { path } = context;
    const [file, merge] = await Promise.all([
      this.files.get(path, { ...this.request, content: true, hash: true }),
      this.loadMerge()
    ]);
    return (
      !this.disposed &&
      this.isQuiet() &&
      context.path === path &&
      this.canLearn &&
      merge(file)
    );
  }

  /** Load the code that merges; most pages never need it. */
  protected abstract loadMerge(): Promise<MergeFile>;

  /** The document's current content. */
  protected abstract currentBaseline(): Baseline;

  /** The file has this content. */
  protected abstract setBaseline(baseline: Baseline): void;

  /** Whether no save is in progress. */
  protected isQuiet(): boolean {
    return this.saving === null;
  }

  /** Whether JupyterLab can learn a file; if not, its own question at the next save has to do. */
  private get canLearn(): boolean {
    return this.privateContext._updateContentsModel !== undefined;
  }

  /** Make JupyterLab know the file, so that its next save finds no other. */
  protected learn(file: Contents.IModel): void {
    const { privateContext } = this;
    this.isLearning = true;
    try {
      if ('_lineEnding' in privateContext && typeof file.content === 'string') {
        privateContext._lineEnding = lineEnding(file.content);
      }
      privateContext._updateContentsModel?.(file);
    } finally {
      this.isLearning = false;
    }
  }

  private get privateContext(): IPrivateContext {
    return this.context as unknown as IPrivateContext;
  }

  /** Whether the file differs from what this page last read or wrote. */
  private async isOutdated(): Promise<boolean> {
    const file = await this.files.get(this.context.path, {
      content: false,
      hash: true
    });
    const known = this.context.contentsModel;
    if (this.disposed || known === null) {
      return false;
    }
    return known.hash && file.hash
      ? known.hash !== file.hash
      : known.last_modified !== file.last_modified;
  }

  private readonly onSaveState = (
    _: unknown,
    state: DocumentRegistry.SaveState
  ): void => {
    if (state === 'started') {
      // The save writes the content of this moment.
      this.saving = { baseline: this.currentBaseline(), startedAt: Date.now() };
      return;
    }
    const { saving, postponed } = this;
    this.saving = null;
    this.postponed = null;
    if (state === 'completed' && saving !== null) {
      this.setBaseline(saving.baseline);
    }
    postponed?.().catch((error: unknown) =>
      console.warn(`${this.context.localPath} differs from its file:`, error)
    );
  };

  /** JupyterLab loaded the file again. */
  private readonly onFileChanged = (): void => {
    const isRename = this.context.contentsModel?.path !== this.context.path;
    if (this.saving === null && !this.isLearning && !isRename) {
      this.setBaseline(this.currentBaseline());
    }
  };

  protected saving: { baseline: Baseline; startedAt: number } | null = null;
  /** Work that waits for the save in progress. */
  protected postponed: (() => Promise<unknown>) | null = null;
  protected disposed = false;
  private isLearning = false;
}

/** The line ending that JupyterLab writes in place of newline characters. */
function lineEnding(content: string): string | null {
  if (content.includes('\r\n')) {
    return '\r\n';
  }
  return content.includes('\r') ? '\r' : null;
}
