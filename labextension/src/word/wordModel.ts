/**
 * The model of a Word document in JupyterLab: the text of its paragraphs, which the page sets when it has read the
 * document. JupyterLab itself loads nothing and saves nothing. Registered by the word plugin.
 */

import type { YFile } from '@jupyter/ydoc';
import { DocumentModel, TextModelFactory } from '@jupyterlab/docregistry';
import type { Contents } from '@jupyterlab/services';

import { textChanges } from '../text/edits';

/** Name of the model factory. */
export const WORD_MODEL = 'shoulders-word';

/** The text of a Word document; always read-only and without unsaved changes. */
export class WordModel extends DocumentModel {
  override get dirty(): boolean {
    return false;
  }

  override set dirty(_: boolean) {
    // Nothing is ever unsaved.
  }

  override get readOnly(): boolean {
    return true;
  }

  override set readOnly(_: boolean) {
    // It stays read-only.
  }

  /** Refuses, so that no command of JupyterLab writes the text in place of the document. */
  override toString(): string {
    throw new Error('A Word document is not saved from its page.');
  }

  get text(): string {
    return this.shared.getSource();
  }

  /** Replace the text with minimal changes, so that positions in it are kept. */
  setText(text: string): void {
    const changes = textChanges(this.text, text);
    this.shared.transact(() => {
      // Last change first: offsets refer to the text before all changes.
      for (const { from, to, insert } of changes.reverse()) {
        this.shared.updateSource(from, to, insert);
      }
    }, false);
  }

  private get shared(): YFile {
    // Text models have a YFile; the interface type lacks its transactions.
    return this.sharedModel as unknown as YFile;
  }
}

/** Makes the models of Word documents. */
export class WordModelFactory extends TextModelFactory {
  constructor() {
    super(false);
  }

  override get name(): string {
    return WORD_MODEL;
  }

  /** None: JupyterLab then asks for the facts of the file, without its content. */
  override get fileFormat(): Contents.FileFormat {
    return null;
  }

  override createNew(): WordModel {
    return new WordModel();
  }
}
