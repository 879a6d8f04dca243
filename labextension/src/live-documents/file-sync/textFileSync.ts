/** Merges a text file into its open document, and saves what the agent changed. Made by `TextBridge`. */

import type { Contents } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';

import { FileSync, type IFiles, type MergeFile } from './fileSync';
import type { mergeText as MergeText } from '../../text/merge';
import { normalizeText, type OpenText, type TextContext } from './openText';

/** JupyterLab never reports the end of a save cancelled in its dialog: after this time it counts as over; in ms. */
const MAX_SAVE_TIME = 10_000;

/** The same lines were changed here and in the file: the user decides; nothing is lost either way. */
export interface ITextConflict {
  readonly path: string;
  /** Keep the text here; the next save replaces the file's. */
  readonly keep: () => void;
  /** Take the file's text, as one step that can be undone. */
  readonly take: () => void;
}

/** Asks the user; disposed when the question no longer applies. */
export type AskTextConflict = (clash: ITextConflict) => IDisposable;

/** Keeps one text and its file together; its baseline is the text. */
export class TextFileSync extends FileSync<TextContext, string> {
  constructor(
    private readonly text: OpenText,
    files: IFiles,
    private readonly askConflict: AskTextConflict
  ) {
    super(text.context, files, { type: 'file', format: 'text' });
    this.baseline = text.text;
  }

  override dispose(): void {
    this.question?.dispose();
    super.dispose();
  }

  /** Whether the user has to decide between two texts. */
  get isInConflict(): boolean {
    return this.question !== null && !this.question.isDisposed;
  }

  /** Save the text after merging what others wrote; not while the user has to decide. */
  async save(): Promise<void> {
    if (!this.isQuiet()) {
      this.postponed = () => this.save();
      return;
    }
    await this.mergeChanges();
    if (!this.disposed && !this.isInConflict && this.text.dirty) {
      await this.context.save();
    }
  }

  protected override isQuiet(): boolean {
    const { saving } = this;
    return saving === null || Date.now() - saving.startedAt > MAX_SAVE_TIME;
  }

  protected override async loadMerge(): Promise<MergeFile> {
    const { mergeText } = await import('../../text/merge');
    return file => this.mergeFile(file, mergeText);
  }

  protected override currentBaseline(): string {
    return this.text.text;
  }

  protected override setBaseline(text: string): void {
    this.baseline = text;
    this.question?.dispose();
  }

  private mergeFile(
    file: Contents.IModel,
    mergeText: typeof MergeText
  ): boolean {
    if (typeof file.content !== 'string') {
      return false;
    }
    const theirs = normalizeText(file.content);
    const merged = mergeText(this.baseline, this.text.text, theirs);
    this.question?.dispose();
    this.question = null;
    if (merged === null) {
      this.question = this.askConflict({
        path: this.text.path,
        keep: () => this.setText(file, theirs, this.text.text),
        take: () => this.setText(file, theirs, theirs)
      });
      return false;
    }
    this.setText(file, theirs, merged);
    return true;
  }

  /** Set the text here; `theirs` is the file's. */
  private setText(file: Contents.IModel, theirs: string, here: string): void {
    this.question?.dispose();
    this.question = null;
    if (this.disposed) {
      return;
    }
    this.text.replace(here);
    this.baseline = theirs;
    if (this.text.text === theirs) {
      this.context.model.dirty = false;
    }
    this.learn(file);
  }

  private baseline: string;
  private question: IDisposable | null = null;
}
