/**
 * Announces the notebooks open in this page to the server and answers its requests on them
 * (chapter 06). Started by the documents plugin; one per page.
 */

import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import { Debouncer } from '@lumino/polling';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type {
  DocumentApply,
  DocumentRead,
  DocumentRefused,
  PageFrame,
  ServerFrame
} from '../wire/generated';
import { OpenNotebook } from './openNotebook';

/** Wait after the last keystroke before a change is announced, in ms. */
const ANNOUNCE_DELAY = 250;

/** The page socket as the bridge needs it. */
export interface IFrameChannel {
  /** Emitted with every frame that is not about sessions. */
  readonly frameReceived: ISignal<unknown, ServerFrame>;
  /** Emitted after each successful hello, the first one and those after a reconnect. */
  readonly opened: ISignal<unknown, void>;
  /** Send a frame; false when the socket is closed (it is announced again on reopening). */
  send(frame: PageFrame): boolean;
}

/** One announced notebook. */
class Announcement implements IDisposable {
  constructor(
    readonly notebook: OpenNotebook,
    private readonly channel: IFrameChannel,
    private readonly nextEpoch: () => number
  ) {
    this.path = notebook.path;
    const { context } = notebook.panel;
    context.model.contentChanged.connect(this.later, this);
    context.model.stateChanged.connect(this.later, this);
    context.fileChanged.connect(this.later, this);
    context.pathChanged.connect(this.renamed, this);
    notebook.panel.sessionContext.kernelChanged.connect(this.later, this);
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

  /** Announce what changed, now. */
  readonly announce = (): void => this.send('document-change');

  focus(): void {
    this.channel.send({ type: 'document-focus', path: this.path });
  }

  dispose(): void {
    if (this.disposed) {
      return;
    }
    this.disposed = true;
    this.debouncer.dispose();
    Signal.clearData(this);
    this.channel.send({
      type: 'document-close',
      path: this.path,
      discarded: this.wasDirty
    });
  }

  private readonly later = (): void => {
    this.wasDirty = this.notebook.dirty;
    void this.debouncer.invoke();
  };

  private readonly renamed = (): void => {
    this.channel.send({
      type: 'document-close',
      path: this.path,
      discarded: false
    });
    this.path = this.notebook.path;
    this.open();
  };

  private send(type: 'document-open' | 'document-change'): void {
    if (this.disposed || this.notebook.panel.isDisposed) {
      return;
    }
    const cells = this.notebook.announce(this.announced);
    const sent = this.channel.send({
      type,
      path: this.path,
      claim_epoch: this.epoch,
      cells,
      dirty: this.notebook.dirty,
      saved_at: this.notebook.savedAt,
      kernel_id: this.notebook.kernelId
    });
    this.wasDirty = this.notebook.dirty;
    this.announced = sent
      ? new Map(cells.map(cell => [cell.id, cell.version]))
      : new Map<string, string>();
  }

  private announced = new Map<string, string>();
  private disposed = false;
  private wasDirty = false;
  private readonly debouncer = new Debouncer(this.announce, ANNOUNCE_DELAY);
}

/** The page's side of the live-document protocol. */
export class DocumentBridge implements IDisposable {
  constructor(
    private readonly channel: IFrameChannel,
    private readonly tracker: INotebookTracker
  ) {
    channel.frameReceived.connect(this.onFrame, this);
    channel.opened.connect(this.onOpened, this);
    tracker.widgetAdded.connect(this.onAdded, this);
    tracker.currentChanged.connect(this.onCurrent, this);
    tracker.forEach(panel => this.onAdded(tracker, panel));
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  dispose(): void {
    if (!this.disposed) {
      this.disposed = true;
      Signal.clearData(this);
      this.announcements.forEach(item => item.dispose());
      this.announcements.clear();
    }
  }

  private readonly onOpened = (): void => {
    this.announcements.forEach(item => item.open());
    this.onCurrent(this.tracker, this.tracker.currentWidget);
  };

  private readonly onAdded = (
    _: INotebookTracker,
    panel: NotebookPanel
  ): void => {
    void panel.context.ready.then(() => {
      if (panel.isDisposed || this.disposed) {
        return;
      }
      const item = new Announcement(
        new OpenNotebook(panel),
        this.channel,
        () => {
          this.epochs += 1;
          return this.epochs;
        }
      );
      this.announcements.set(panel, item);
      panel.disposed.connect(() => {
        item.dispose();
        this.announcements.delete(panel);
      });
      item.open();
      if (this.tracker.currentWidget === panel) {
        item.focus();
      }
    });
  };

  private readonly onCurrent = (
    _: INotebookTracker,
    panel: NotebookPanel | null
  ): void => {
    if (panel !== null) {
      this.announcements.get(panel)?.focus();
    }
  };

  private readonly onFrame = (_: unknown, frame: ServerFrame): void => {
    switch (frame.type) {
      case 'document-read':
        this.channel.send(this.read(frame));
        return;
      case 'document-apply':
        this.channel.send(this.apply(frame));
        return;
      case 'cell-run-start':
        this.each(frame.path, open => open.runStarted(frame.cell_id));
        return;
      case 'cell-run-output':
        this.each(frame.path, open =>
          open.runOutput(frame.cell_id, frame.index, frame.outputs)
        );
        return;
      case 'cell-run-end':
        this.each(frame.path, open =>
          open.runEnded(frame.cell_id, frame.execution_count)
        );
        return;
      case 'welcome':
      case 'events':
      case 'resync':
      case 'frame-error':
        return;
    }
  };

  private each(path: string, act: (notebook: OpenNotebook) => void): void {
    for (const item of this.announcements.values()) {
      if (item.path === path) {
        act(item.notebook);
        return; // Two views of one document share the model.
      }
    }
  }

  private find(path: string): Announcement | null {
    for (const item of this.announcements.values()) {
      if (item.path === path) {
        return item;
      }
    }
    return null;
  }

  private read(frame: DocumentRead): PageFrame {
    const item = this.find(frame.path);
    const refusal = refusalOf(item, frame);
    if (item === null || refusal !== null) {
      return refusal ?? refused(frame.operation_id, 'not_open', frame.path);
    }
    return {
      type: 'document-content',
      operation_id: frame.operation_id,
      path: frame.path,
      cells: item.notebook.read(new Set(frame.outputs)),
      metadata: item.notebook.metadata,
      dirty: item.notebook.dirty
    };
  }

  /** Apply once: a repeated frame gets the first answer again. */
  private apply(frame: DocumentApply): PageFrame {
    const before = this.answers.get(frame.operation_id);
    if (before !== undefined) {
      return before;
    }
    const answer = this.applyNew(frame);
    this.answers.set(frame.operation_id, answer);
    if (this.answers.size > MAX_ANSWERS) {
      const oldest = this.answers.keys().next().value;
      if (oldest !== undefined) {
        this.answers.delete(oldest);
      }
    }
    return answer;
  }

  private applyNew(frame: DocumentApply): PageFrame {
    const { operation_id } = frame;
    const item = this.find(frame.path);
    const refusal = refusalOf(item, frame);
    if (item === null || refusal !== null) {
      return refusal ?? refused(operation_id, 'not_open', frame.path);
    }
    if (Date.now() > frame.deadline_ms) {
      return refused(operation_id, 'deadline', frame.path);
    }
    if (!item.notebook.writable) {
      return refused(operation_id, 'read_only', frame.path);
    }
    const outcome = item.notebook.apply(frame.expected, frame.edits);
    if (outcome.kind === 'conflict') {
      return {
        type: 'document-conflict',
        operation_id,
        conflicts: outcome.conflicts
      };
    }
    item.announce();
    return {
      type: 'document-applied',
      operation_id,
      versions: outcome.versions,
      inverse: outcome.inverse
    };
  }

  private readonly announcements = new Map<NotebookPanel, Announcement>();
  private readonly answers = new Map<string, PageFrame>();
  private epochs = 0;
  private disposed = false;
}

const MAX_ANSWERS = 200;

const REASONS: Record<DocumentRefused['reason'], string> = {
  epoch: 'The request was made before the page announced the notebook again.',
  deadline: 'The request reached the page too late.',
  not_open: 'The notebook is not open in this page.',
  read_only: 'The notebook is read-only.',
  failed: 'The page could not do it.'
};

function refused(
  operation_id: string,
  reason: DocumentRefused['reason'],
  path: string
): DocumentRefused {
  return {
    type: 'document-refused',
    operation_id,
    reason,
    message: `${REASONS[reason]} (${path})`
  };
}

function refusalOf(
  item: Announcement | null,
  frame: DocumentApply | DocumentRead
): DocumentRefused | null {
  if (item === null) {
    return refused(frame.operation_id, 'not_open', frame.path);
  }
  return item.epoch === frame.claim_epoch
    ? null
    : refused(frame.operation_id, 'epoch', frame.path);
}
