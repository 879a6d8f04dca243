/** One text file as this page announces it to the server. Made by `TextBridge`. */

import type { TextChange } from '../wire/generated';
import { AnnouncedDocument, type Send } from './announcedState';
import type { OpenText } from './file-sync/openText';

/** What the server is told of one text; all its views in this page are one. */
export class TextAnnouncer extends AnnouncedDocument {
  constructor(
    readonly text: OpenText,
    tell: Send,
    nextEpoch: () => number
  ) {
    super('text', text, tell, nextEpoch);
  }

  protected tellState(isClaim: boolean): void {
    const { text } = this;
    const state: Omit<TextChange, 'type'> = {
      path: this.path,
      claim_epoch: this.epoch,
      version: text.version,
      dirty: text.dirty,
      writable: text.writable,
      saved_at: text.savedAt
    };
    const said = JSON.stringify(state);
    if (said !== this.said) {
      const type = isClaim ? 'text-open' : 'text-change';
      this.said = this.tell({ type, ...state }) ? said : '';
    }
  }

  protected forget(): void {
    this.said = '';
  }

  private said = '';
}
