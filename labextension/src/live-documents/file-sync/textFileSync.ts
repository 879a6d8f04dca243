/**
 * Keeps an open text and its file together: saves what the agent changed, and takes up what others wrote
 * (another page, the server while this page was away, git, another editor) without a reload, so that
 * nothing typed here is lost and the next save finds the file it knows. Made by `TextBridge`.
 */

import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { Contents } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import type { IFiles } from './notebookFileSync';
import type { mergeText as MergeText } from '../../text/merge';
import { normalizeText, type OpenText, type TextContext } from './openText';

/** A save that was cancelled in the lab's own dialog is never said to be over; in ms. */
const SAVE_LASTS = 10_000;

/** The part of the lab's context that learns what the file holds; not public, so it may be missing. */
interface ILearnsFile {
  _updateContentsModel?: (file: Contents.IModel) => void;
  _lineEnding?: string | null;
}

/** The same lines were changed here and in the file: the user decides; nothing is lost either way. */
export interface ITextConflict {
  readonly path: string;
  /** Keep the text here; the next save replaces the file's. */
  readonly keep: () => void;
  /** Take the file's text, as one step that can be undone. */
  readonly take: () => void;
}

/** Asks the user; disposed when there is nothing to ask any more. */
export type AskTextConflict = (clash: ITextConflict) => IDisposable;

/** Follows loads and saves of one text, and takes up the file when asked to. */
export class TextFileSync implements IDisposable {
  constructor(
    private readonly text: OpenText,
    private readonly files: IFiles,
    private readonly ask: AskTextConflict
  ) {
    this.base = text.text;
    const { context } = text;
    context.saveState.connect(this.onSaveState, this);
    context.fileChanged.connect(this.onFileChanged, this);
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  dispose(): void {
    if (!this.disposed) {
      this.disposed = true;
      this.question?.dispose();
      Signal.clearData(this);
    }
  }

  /** Whether the user has to decide between two texts. */
  get isInConflict(): boolean {
    return this.question !== null && !this.question.isDisposed;
  }

  /** Save what is here, after taking up what others wrote; not while the user has to decide. */
  async save(): Promise<void> {
    if (!this.isQuiet()) {
      this.wanted = 'save';
      return;
    }
    await this.takeUp();
    if (!this.disposed && !this.isInConflict && this.text.dirty) {
      await this.context.save();
    }
  }

  /** Take up what the file says now; returns whether anything was done. */
  async takeUp(): Promise<boolean> {
    if (!this.isQuiet()) {
      this.wanted ??= 'file'; // The save in progress meets the file first.
      return false;
    }
    const { context } = this;
    if (context.model.collaborative || !(await this.isOther())) {
      return false;
    }
    const { path } = context;
    const [file, { mergeText }] = await Promise.all([
      this.files.get(path, {
        type: 'file',
        format: 'text',
        content: true,
        hash: true
      }),
      import('../../text/merge')
    ]);
    return !this.disposed && this.isQuiet() && context.path === path
      ? this.mergeFile(file, mergeText)
      : false;
  }

  private get context(): TextContext {
    return this.text.context;
  }

  /** Whether no save is going on. */
  private isQuiet(): boolean {
    return this.saving === null || Date.now() - this.saving.since > SAVE_LASTS;
  }

  /** Whether the file is another than the one that was read or written here last. */
  private async isOther(): Promise<boolean> {
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

  private mergeFile(
    file: Contents.IModel,
    mergeText: typeof MergeText
  ): boolean {
    if (typeof file.content !== 'string' || !canLearn(this.context)) {
      return false; // The lab's own question at the next save is all there is.
    }
    const theirs = normalizeText(file.content);
    const merged = mergeText(this.base, this.text.text, theirs);
    this.question?.dispose();
    this.question = null;
    if (merged === null) {
      this.question = this.ask({
        path: this.text.path,
        keep: () => this.settle(file, theirs, this.text.text),
        take: () => this.settle(file, theirs, theirs)
      });
      return false;
    }
    this.settle(file, theirs, merged);
    return true;
  }

  /** Have this text here, of the file as it is now. */
  private settle(file: Contents.IModel, theirs: string, here: string): void {
    this.question?.dispose();
    this.question = null;
    if (this.disposed) {
      return;
    }
    this.text.replace(here);
    this.base = theirs;
    if (this.text.text === theirs) {
      this.context.model.dirty = false;
    }
    this.isLearning = true;
    try {
      learn(this.context, file);
    } finally {
      this.isLearning = false;
    }
  }

  private readonly onSaveState = (
    _: unknown,
    state: DocumentRegistry.SaveState
  ): void => {
    if (state === 'started') {
      // What is written is what the text is at this moment.
      this.saving = { base: this.text.text, since: Date.now() };
      return;
    }
    const { saving, wanted } = this;
    this.saving = null;
    this.wanted = null;
    if (state === 'completed' && saving !== null) {
      this.base = saving.base;
      this.question?.dispose();
    }
    if (wanted !== null) {
      const work = wanted === 'save' ? this.save() : this.takeUp();
      work.catch((error: unknown) =>
        console.warn(`${this.text.path} is not as its file is:`, error)
      );
    }
  };

  /** Loaded anew by the lab. */
  private readonly onFileChanged = (): void => {
    const isRename = this.context.contentsModel?.path !== this.context.path;
    if (this.saving === null && !this.isLearning && !isRename) {
      this.base = this.text.text;
      this.question?.dispose();
    }
  };

  /** The text as the page last read or wrote it. */
  private base: string;
  private saving: { base: string; since: number } | null = null;
  private wanted: 'save' | 'file' | null = null;
  private question: IDisposable | null = null;
  private isLearning = false;
  private disposed = false;
}

function canLearn(context: TextContext): boolean {
  const learner = context as unknown as ILearnsFile;
  return learner._updateContentsModel !== undefined;
}

/** Let the lab know the file, so that its next save finds no other. */
function learn(context: TextContext, file: Contents.IModel): void {
  const learner = context as unknown as ILearnsFile;
  if ('_lineEnding' in learner) {
    learner._lineEnding = lineEnding(String(file.content));
  }
  learner._updateContentsModel?.(file);
}

/** The line end that the lab puts in the place of newline characters when it saves. */
function lineEnding(content: string): string | null {
  if (content.includes('\r\n')) {
    return '\r\n';
  }
  return content.includes('\r') ? '\r' : null;
}
