/**
 * What is the same for every document that this page announces to the server: opened, changed, renamed, closed, and
 * when. The base of `NotebookAnnouncer` and `TextAnnouncer`.
 */

import type { IDisposable } from '@lumino/disposable';
import { Debouncer } from '@lumino/polling';
import { Signal, type ISignal } from '@lumino/signaling';

import type { PageFrame } from '../wire/generated';

/** Wait after the last keystroke before a change is announced, in ms. */
const ANNOUNCE_DELAY = 250;

/** Sends a frame; false when the socket is closed (all is announced again on reopening). */
export type Send = (frame: PageFrame) => boolean;

/** A document that is open in this page; all its views are one. */
export interface IAnnouncedDocument {
  readonly path: string;
  readonly dirty: boolean;
  readonly context: {
    readonly isDisposed: boolean;
    readonly model: {
      readonly contentChanged: ISignal<unknown, unknown>;
      readonly stateChanged: ISignal<unknown, unknown>;
    };
    readonly fileChanged: ISignal<unknown, unknown>;
    readonly pathChanged: ISignal<unknown, unknown>;
  };
}

/** One document as it is announced; `kind` names its frames. */
export abstract class AnnouncedDocument implements IDisposable {
  constructor(
    private readonly kind: 'document' | 'text',
    private readonly document: IAnnouncedDocument,
    protected readonly tell: Send,
    private readonly nextEpoch: () => number
  ) {
    this.path = document.path;
    const { context } = document;
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

  /** Claim the document anew, with all that is told of it. */
  open(): void {
    this.epoch = this.nextEpoch();
    this.forget();
    this.send(true);
  }

  /** Announce what changed, now: what is saved, or the page may go away. */
  readonly announce = (): void => this.send(false);

  /** The user looks at it. */
  focus(): void {
    this.tell({ type: `${this.kind}-focus`, path: this.path });
  }

  dispose(): void {
    if (this.disposed) {
      return;
    }
    this.disposed = true;
    this.debouncer.dispose();
    Signal.clearData(this);
    this.tell({
      type: `${this.kind}-close`,
      path: this.path,
      discarded: this.wasDirty
    });
  }

  /** Tell how the document is now; a claim, or what changed since it was told last. */
  protected abstract tellState(isClaim: boolean): void;

  /** What was told before does not count any more. */
  protected abstract forget(): void;

  /** Announce once nothing more changes for a moment. */
  protected readonly later = (): void => {
    this.wasDirty = this.document.dirty;
    void this.debouncer.invoke();
  };

  private readonly renamed = (): void => {
    const { path } = this;
    this.path = this.document.path;
    if (path !== this.path) {
      this.tell({ type: `${this.kind}-rename`, path, new_path: this.path });
    }
  };

  private send(isClaim: boolean): void {
    if (!this.disposed && !this.document.context.isDisposed) {
      this.tellState(isClaim);
      this.wasDirty = this.document.dirty;
    }
  }

  private disposed = false;
  private wasDirty = false;
  private readonly debouncer = new Debouncer(this.announce, ANNOUNCE_DELAY);
}
