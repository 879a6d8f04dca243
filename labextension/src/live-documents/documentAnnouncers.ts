/**
 * Announces the open documents of this page to the server: opened, changed, renamed and closed. Used by
 * `NotebookBridge` and `TextBridge`.
 */

import type { IDisposable } from '@lumino/disposable';
import { Debouncer } from '@lumino/polling';
import { Signal, type ISignal } from '@lumino/signaling';
import type { Kernel } from '@jupyterlab/services';

import type { AnnouncedCell, PageFrame, TextChange } from '../wire/generated';
import { cellChanges } from './notebooks/cellChanges';
import { NotebookContents } from './notebooks/notebookContents';
import type { OpenNotebook } from './notebooks/openNotebook';
import type { OpenText } from './file-sync/openText';

/** Delay after the last keystroke before a change is announced, in ms. */
const ANNOUNCE_DELAY = 250;

/** Sends a frame; false when the socket is closed. Documents are announced again when it reopens. */
export type Send = (frame: PageFrame) => boolean;

/** A document open in this page, in one or more views. */
export interface IAnnouncedDocument {
  readonly path: string;
  readonly dirty: boolean;
  readonly writable: boolean;
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

/** Announces one document; `kind` begins the types of its frames. */
export abstract class AnnouncedDocument implements IDisposable {
  constructor(
    private readonly kind: 'document' | 'text',
    readonly document: IAnnouncedDocument,
    protected readonly sendFrame: Send,
    private readonly nextEpoch: () => number
  ) {
    this.path = document.path;
    const { context } = document;
    context.model.contentChanged.connect(this.announceLater, this);
    context.model.stateChanged.connect(this.announceLater, this);
    context.fileChanged.connect(this.announce, this);
    context.pathChanged.connect(this.renamed, this);
  }

  path: string;
  epoch = 0;

  get isDisposed(): boolean {
    return this.disposed;
  }

  /** Claim the document with a new epoch and announce its whole state. */
  claim(): void {
    this.epoch = this.nextEpoch();
    this.forgetSentState();
    this.send(true);
  }

  /** Announce changes now: the document was saved, or the page may go away. */
  readonly announce = (): void => this.send(false);

  /** Announce that the document is the current one. */
  focus(): void {
    this.sendFrame({ type: `${this.kind}-focus`, path: this.path });
  }

  dispose(): void {
    if (this.disposed) {
      return;
    }
    this.disposed = true;
    this.debouncer.dispose();
    Signal.clearData(this);
    this.sendFrame({
      type: `${this.kind}-close`,
      path: this.path,
      discarded: this.wasDirty
    });
  }

  /** Send the current state: a claim, or what changed since the last frame. */
  protected abstract sendState(isClaim: boolean): void;

  /** Forget which state was sent. */
  protected abstract forgetSentState(): void;

  /** Announce after a pause in the changes. */
  protected readonly announceLater = (): void => {
    this.wasDirty = this.document.dirty;
    void this.debouncer.invoke();
  };

  private readonly renamed = (): void => {
    const { path } = this;
    this.path = this.document.path;
    if (path !== this.path) {
      this.sendFrame({
        type: `${this.kind}-rename`,
        path,
        new_path: this.path
      });
    }
  };

  private send(isClaim: boolean): void {
    if (!this.disposed && !this.document.context.isDisposed) {
      this.sendState(isClaim);
      this.wasDirty = this.document.dirty;
    }
  }

  private disposed = false;
  private wasDirty = false;
  private readonly debouncer = new Debouncer(this.announce, ANNOUNCE_DELAY);
}

/** Announces one notebook with its cells and its kernel. */
export class NotebookAnnouncer extends AnnouncedDocument {
  constructor(
    readonly notebook: OpenNotebook,
    tell: Send,
    nextEpoch: () => number
  ) {
    super('document', notebook, tell, nextEpoch);
    this.contents = new NotebookContents(notebook);
    const { sessionContext } = notebook.context;
    sessionContext.kernelChanged.connect(this.onKernelChanged, this);
    sessionContext.statusChanged.connect(this.onStatusChanged, this);
  }

  /** Answers the server's reads. */
  readonly contents: NotebookContents;

  /** The user's run of a cell has ended. */
  runEnded(cellId: string): void {
    this.notebook.runEnded(cellId);
    this.announceLater();
  }

  protected sendState(isClaim: boolean): void {
    const { notebook } = this;
    const now = notebook.announce();
    const known = new Map(this.announced?.map(cell => [cell.id, cell.version]));
    const { order, cells } = cellChanges(this.announced, now, isSameCell);
    const state = {
      path: this.path,
      claim_epoch: this.epoch,
      cells: cells.map(cell =>
        known.get(cell.id) === cell.version ? { ...cell, source: null } : cell
      ),
      dirty: notebook.dirty,
      saved_at: notebook.savedAt,
      kernel_id: notebook.kernelId,
      kernel_restarts: notebook.executed.restarts
    };
    const sent = this.sendFrame(
      isClaim
        ? { type: 'document-open', ...state }
        : { type: 'document-change', ...state, order }
    );
    this.announced = sent ? now : null;
  }

  protected forgetSentState(): void {
    this.announced = null;
  }

  /** Another kernel has none of the earlier runs' state. */
  private readonly onKernelChanged = (
    _: unknown,
    change: { oldValue: unknown; newValue: unknown }
  ): void => {
    if (change.oldValue !== null && change.newValue !== null) {
      this.notebook.executed.restarted();
    }
    this.announceLater();
  };

  private readonly onStatusChanged = (
    _: unknown,
    status: Kernel.Status
  ): void => {
    const isNew = status !== this.status;
    this.status = status;
    if (isNew && (status === 'restarting' || status === 'autorestarting')) {
      this.notebook.executed.restarted();
      this.announceLater();
    }
  };

  private status: Kernel.Status = 'unknown';
  /** The cells as the server has them; null when that is not known. */
  private announced: readonly AnnouncedCell[] | null = null;
}

/** Whether two cells are announced in the same way. */
function isSameCell(one: AnnouncedCell, other: AnnouncedCell): boolean {
  return (
    one.cell_type === other.cell_type &&
    one.version === other.version &&
    one.execution_count === other.execution_count &&
    one.executed_version === other.executed_version
  );
}

/** Announces one text file. */
export class TextAnnouncer extends AnnouncedDocument {
  constructor(
    readonly text: OpenText,
    tell: Send,
    nextEpoch: () => number
  ) {
    super('text', text, tell, nextEpoch);
  }

  protected sendState(isClaim: boolean): void {
    const { text } = this;
    const state: Omit<TextChange, 'type'> = {
      path: this.path,
      claim_epoch: this.epoch,
      version: text.version,
      dirty: text.dirty,
      writable: text.writable,
      saved_at: text.savedAt
    };
    const sentState = JSON.stringify(state);
    if (sentState !== this.sentState) {
      const type = isClaim ? 'text-open' : 'text-change';
      this.sentState = this.sendFrame({ type, ...state }) ? sentState : '';
    }
  }

  protected forgetSentState(): void {
    this.sentState = '';
  }

  private sentState = '';
}
