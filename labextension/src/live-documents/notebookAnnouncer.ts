/** One notebook as this page announces it to the server, with its cells and its kernel. Made by `NotebookBridge`. */

import type { Kernel } from '@jupyterlab/services';

import { AnnouncedDocument, type Send } from './announcedState';
import type { OpenNotebook } from './notebooks/openNotebook';

/** What the server is told of one notebook; all its views in this page are one. */
export class NotebookAnnouncer extends AnnouncedDocument {
  constructor(
    readonly notebook: OpenNotebook,
    tell: Send,
    nextEpoch: () => number
  ) {
    super('document', notebook, tell, nextEpoch);
    const { sessionContext } = notebook.context;
    sessionContext.kernelChanged.connect(this.replaced, this);
    sessionContext.statusChanged.connect(this.watched, this);
  }

  /** A run of the user's is over: its count stands. */
  ran(cellId: string): void {
    this.notebook.ran(cellId);
    this.later();
  }

  protected tellState(isClaim: boolean): void {
    const { notebook } = this;
    const cells = notebook.announce(this.announced);
    const sent = this.tell({
      type: isClaim ? 'document-open' : 'document-change',
      path: this.path,
      claim_epoch: this.epoch,
      cells,
      dirty: notebook.dirty,
      saved_at: notebook.savedAt,
      kernel_id: notebook.kernelId,
      kernel_restarts: notebook.executed.restarts
    });
    this.announced = sent
      ? new Map(cells.map(cell => [cell.id, cell.version]))
      : new Map<string, string>();
  }

  protected forget(): void {
    this.announced.clear();
  }

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

  private status: Kernel.Status = 'unknown';
  private announced = new Map<string, string>();
}
