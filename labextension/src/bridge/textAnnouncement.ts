/**
 * One text file as this page announces it to the server: opened, changed, renamed, closed. Made by
 * `TextBridge`.
 */

import type { IDisposable } from '@lumino/disposable';
import { Debouncer } from '@lumino/polling';
import { Signal } from '@lumino/signaling';

import type { TextChange } from '../wire/generated';
import type { Send } from './announcement';
import type { OpenText } from './openText';

/** Wait after the last keystroke before a change is announced, in ms. */
const ANNOUNCE_DELAY = 250;

/** What the server is told of one text; all its views in this page are one. */
export class TextAnnouncement implements IDisposable {
  constructor(
    readonly text: OpenText,
    private readonly tell: Send,
    private readonly nextEpoch: () => number
  ) {
    this.path = text.path;
    const { context } = text;
    context.model.contentChanged.connect(this.later, this);
    context.model.stateChanged.connect(this.later, this);
    context.fileChanged.connect(this.announce, this);
    context.pathChanged.connect(this.renamed, this);
  }

  path: string;
  epoch = 0;

  get isDisposed(): boolean {
    return this.disposed;
  }

  /** Claim the text anew. */
  open(): void {
    this.epoch = this.nextEpoch();
    this.said = '';
    this.send('text-open');
  }

  /** Announce what changed, now: what is saved, or the page may go away. */
  readonly announce = (): void => this.send('text-change');

  /** The user looks at it. */
  focus(): void {
    this.tell({ type: 'text-focus', path: this.path });
  }

  dispose(): void {
    if (this.disposed) {
      return;
    }
    this.disposed = true;
    this.debouncer.dispose();
    Signal.clearData(this);
    this.tell({
      type: 'text-close',
      path: this.path,
      discarded: this.wasDirty
    });
  }

  private readonly later = (): void => {
    this.wasDirty = this.text.dirty;
    void this.debouncer.invoke();
  };

  private readonly renamed = (): void => {
    const { path } = this;
    this.path = this.text.path;
    if (path !== this.path) {
      this.tell({ type: 'text-rename', path, new_path: this.path });
    }
  };

  private send(type: 'text-open' | 'text-change'): void {
    const { text } = this;
    if (this.disposed || text.context.isDisposed) {
      return;
    }
    const state: Omit<TextChange, 'type'> = {
      path: this.path,
      claim_epoch: this.epoch,
      version: text.version,
      dirty: text.dirty,
      writable: text.writable,
      saved_at: text.savedAt
    };
    this.wasDirty = state.dirty;
    const said = JSON.stringify(state);
    if (said !== this.said) {
      this.said = this.tell({ type, ...state }) ? said : '';
    }
  }

  private said = '';
  private disposed = false;
  private wasDirty = false;
  private readonly debouncer = new Debouncer(this.announce, ANNOUNCE_DELAY);
}
