/**
 * One notebook as this page announces it to the server: opened, changed, renamed, closed. Made by
 * `DocumentBridge`.
 */

import type { Kernel } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';
import { Debouncer } from '@lumino/polling';
import { Signal } from '@lumino/signaling';

import type { PageFrame } from '../wire/generated';
import type { OpenNotebook } from './openNotebook';

/** Wait after the last keystroke before a change is announced, in ms. */
const ANNOUNCE_DELAY = 250;

/** Sends a frame; false when the socket is closed (all is announced again on reopening). */
export type Send = (frame: PageFrame) => boolean;

/** What the server is told of one notebook; all its views in this page are one. */
export class Announcement implements IDisposable {
  constructor(
    readonly notebook: OpenNotebook,
    private readonly tell: Send,
    private readonly nextEpoch: () => number
  ) {
    this.path = notebook.path;
    const { context } = notebook;
    context.model.contentChanged.connect(this.later, this);
    context.model.stateChanged.connect(this.later, this);
    context.fileChanged.connect(this.announce, this);
    context.pathChanged.connect(this.renamed, this);
    context.sessionContext.kernelChanged.connect(this.replaced, this);
    context.sessionContext.statusChanged.connect(this.watched, this);
  }

  path: string;
  epoch = 0;

  get isDisposed(): boolean {
    return this.disposed;
  }

  /** Claim the notebook anew, with all its text. */
  open(): void {
    this.epoch = this.nextEpoch();
    this.announced.clear();
    this.send('document-open');
  }

  /** Announce what changed, now: what is saved, or the page may go away. */
  readonly announce = (): void => this.send('document-change');

  /** The user looks at it. */
  focus(): void {
    this.tell({ type: 'document-focus', path: this.path });
  }

  /** A run of the user's is over: its count stands. */
  ran(cellId: string): void {
    this.notebook.ran(cellId);
    this.later();
  }

  dispose(): void {
    if (this.disposed) {
      return;
    }
    this.disposed = true;
    this.debouncer.dispose();
    Signal.clearData(this);
    this.tell({
      type: 'document-close',
      path: this.path,
      discarded: this.wasDirty
    });
  }

  private readonly later = (): void => {
    this.wasDirty = this.notebook.dirty;
    void this.debouncer.invoke();
  };

  /** Another kernel knows nothing of what ran before. */
  private readonly replaced = (
    _: unknown,
    change: { oldValue: unknown; newValue: unknown }
  ): void => {
    if (change.oldValue !== null && change.newValue !== null) {
      this.notebook.executed.restarted();
    }
    this.later();
  };

  private readonly watched = (_: unknown, status: Kernel.Status): void => {
    const isNew = status !== this.status;
    this.status = status;
    if (isNew && (status === 'restarting' || status === 'autorestarting')) {
      this.notebook.executed.restarted();
      this.later();
    }
  };

  private readonly renamed = (): void => {
    const { path } = this;
    this.path = this.notebook.path;
    if (path !== this.path) {
      this.tell({ type: 'document-rename', path, new_path: this.path });
    }
  };

  private send(type: 'document-open' | 'document-change'): void {
    if (this.disposed || this.notebook.context.isDisposed) {
      return;
    }
    const cells = this.notebook.announce(this.announced);
    const sent = this.tell({
      type,
      path: this.path,
      claim_epoch: this.epoch,
      cells,
      dirty: this.notebook.dirty,
      saved_at: this.notebook.savedAt,
      kernel_id: this.notebook.kernelId,
      kernel_restarts: this.notebook.executed.restarts
    });
    this.wasDirty = this.notebook.dirty;
    this.announced = sent
      ? new Map(cells.map(cell => [cell.id, cell.version]))
      : new Map<string, string>();
  }

  private status: Kernel.Status = 'unknown';
  private announced = new Map<string, string>();
  private disposed = false;
  private wasDirty = false;
  private readonly debouncer = new Debouncer(this.announce, ANNOUNCE_DELAY);
}
