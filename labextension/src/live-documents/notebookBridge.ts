/**
 * Announces the notebooks open in this page to the server and answers its requests on them
 * (chapter 06). Started by the documents plugin; one per page.
 */

import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { CodeCell } from '@jupyterlab/cells';
import type { OutputArea } from '@jupyterlab/outputarea';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type {
  DocumentApply,
  DocumentRead,
  PageFrame,
  ServerFrame
} from '../wire/generated';
import { NotebookAnnouncer } from './notebookAnnouncer';
import { CaretGuard } from './notebooks/caretGuard';
import { NotebookFileSync, type IFiles } from './file-sync/notebookFileSync';
import { restartKernel, showKernel } from './notebooks/kernelRestart';
import { RecoveryOffers, type LoadRecoveryView } from './recoveryOffers';
import { OpenNotebook, type NotebookContext } from './notebooks/openNotebook';
import { refusalOf, refused } from './errorMapping';
import { CellInputs } from './notebooks/cellInputs';

/** After a reconnection the server speaks of the runs it knows at once; then the others are over. */
const RUNS_KNOWN = 5000;

/** The page socket as the bridge needs it. */
export interface IFrameChannel {
  /** Emitted with every frame that is not about sessions. */
  readonly frameReceived: ISignal<unknown, ServerFrame>;
  /** Emitted after each successful hello, the first one and those after a reconnect. */
  readonly opened: ISignal<unknown, void>;
  /** Send a frame; false when the socket is closed (it is announced again on reopening). */
  send(frame: PageFrame): boolean;
}

/** What the bridge needs of the lab. */
export interface INotebookLab {
  readonly notebooks: INotebookTracker;
  readonly files: IFiles;
  /** Tells the user that so many cells were changed here and in the file: both texts are kept. */
  readonly tellConflict: (path: string, cells: number) => void;
  /** Tells the user that the agent changed so many cells in another window, which were changed here, too. */
  readonly tellElsewhere: (path: string, cells: number) => void;
  /** What another window saved is here now. */
  readonly mergedElsewhere: (path: string) => void;
  readonly loadRecoveryView: LoadRecoveryView;
}

/** A notebook of this page: what is announced of it, and its file. */
interface IDocument {
  readonly announcement: NotebookAnnouncer;
  readonly file: NotebookFileSync;
}

/** The page's side of the live-document protocol. */
export class NotebookBridge implements IDisposable {
  constructor(
    private readonly channel: IFrameChannel,
    private readonly lab: INotebookLab
  ) {
    this.offers = new RecoveryOffers(lab.loadRecoveryView, frame =>
      channel.send(frame)
    );
    channel.frameReceived.connect(this.onFrame, this);
    channel.opened.connect(this.onOpened, this);
    lab.notebooks.widgetAdded.connect(this.onAdded, this);
    lab.notebooks.currentChanged.connect(this.focus, this);
    lab.notebooks.forEach(panel => this.onAdded(lab.notebooks, panel));
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  dispose(): void {
    if (!this.disposed) {
      this.disposed = true;
      Signal.clearData(this);
      [...this.documents.keys()].forEach(this.close);
      this.inputs.dispose();
    }
  }

  /** The user looks at this page: edits go to the notebook in front. */
  readonly focus = (): void => {
    const panel = this.lab.notebooks.currentWidget;
    if (panel !== null) {
      this.documents.get(panel.context)?.announcement.focus();
    }
  };

  /** The page may go away: announce the last keystrokes now. */
  readonly leave = (): void =>
    this.documents.forEach(({ announcement }) => announcement.announce());

  /** The user runs a cell of an open notebook; a run of the agent in it is theirs from now on. */
  userRuns(context: NotebookContext, cellId: string): void {
    const item = this.documents.get(context)?.announcement;
    item?.notebook.scheduled(cellId);
    const run_id = item?.notebook.runs.take(cellId) ?? null;
    if (item !== undefined && run_id !== null) {
      const { path } = item;
      this.inputs.close(run_id);
      this.channel.send({
        type: 'cell-run-taken',
        run_id,
        path,
        cell_id: cellId
      });
    }
  }

  /** A run of the user's is over. */
  userRan(context: NotebookContext, cellId: string): void {
    this.documents.get(context)?.announcement.ran(cellId);
  }

  private readonly onOpened = (): void => {
    for (const { announcement, file } of this.documents.values()) {
      announcement.open();
      announcement.notebook.runs.doubt();
      // The server may have written the file while this page was away.
      void this.takeUp(announcement, file);
    }
    this.focus();
    setTimeout(this.endDoubtfulRuns, RUNS_KNOWN);
  };

  private readonly endDoubtfulRuns = (): void =>
    this.documents.forEach(({ announcement }) =>
      announcement.notebook.runs.endDoubtful()
    );

  private readonly onAdded = (
    _: INotebookTracker,
    panel: NotebookPanel
  ): void => {
    panel.node.addEventListener('focusin', event => {
      const from = event.relatedTarget;
      if (!(from instanceof Node && panel.node.contains(from))) {
        this.focus();
      }
    });
    const { context } = panel;
    void context.ready.then(() => {
      const isKnown = this.documents.has(context); // Another view of it.
      if (!context.isDisposed && !this.disposed && !isKnown) {
        this.openDocument(context);
      }
      const notebook = this.documents.get(context)?.announcement.notebook;
      notebook?.carets.add(new CaretGuard(panel));
    });
  };

  private openDocument(context: NotebookContext): void {
    const notebook = new OpenNotebook(context);
    const announcement = new NotebookAnnouncer(
      notebook,
      frame => this.channel.send(frame),
      () => {
        this.epochs += 1;
        return this.epochs;
      }
    );
    const file = new NotebookFileSync(notebook, this.lab.files, cells =>
      this.lab.tellConflict(announcement.path, cells)
    );
    this.documents.set(context, { announcement, file });
    context.disposed.connect(this.close, this);
    announcement.open();
    if (this.lab.notebooks.currentWidget?.context === context) {
      announcement.focus();
    }
  }

  private readonly close = (context: NotebookContext): void => {
    const item = this.documents.get(context);
    this.documents.delete(context);
    if (item !== undefined) {
      this.offers.closed(item.announcement);
      item.announcement.dispose();
      item.file.dispose();
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
      case 'document-saved':
        this.with(frame.path, (open, file) => void this.takeUp(open, file));
        return;
      case 'document-elsewhere':
        this.with(frame.path, () =>
          this.lab.tellElsewhere(frame.path, frame.cells.length)
        );
        return;
      case 'document-recovery':
        this.with(frame.path, open => this.offers.offered(open, frame));
        return;
      case 'document-recovered':
        this.offers.withdrawn(frame.recovery_id);
        return;
      case 'cell-run-start':
        this.with(frame.path, ({ notebook }) => {
          const { run_id, cell_id, in_room } = frame;
          if (in_room) {
            notebook.runs.joined(run_id, cell_id);
          } else {
            notebook.runs.started(run_id, cell_id);
          }
          void showKernel(notebook.context.sessionContext, frame.path);
        });
        return;
      case 'cell-run-output':
        this.with(frame.path, ({ notebook }) => {
          const { run_id, cell_id, index, outputs } = frame;
          notebook.runs.output(run_id, cell_id, index, outputs);
        });
        return;
      case 'cell-input-request':
        this.inputs.ask(frame);
        return;
      case 'cell-input-end':
        this.inputs.end(frame);
        return;
      case 'cell-run-end':
        this.inputs.close(frame.run_id);
        this.with(frame.path, ({ notebook }) => {
          const { run_id, cell_id, execution_count } = frame;
          notebook.runs.ended(run_id, cell_id, execution_count);
        });
        return;
      case 'kernel-restart':
        this.with(frame.path, ({ notebook }) => {
          restartKernel(notebook.context.sessionContext, frame).catch(
            (error: unknown) => {
              // The server restarts what is not restarted here.
              console.warn(`The kernel of ${frame.path} stays:`, error);
            }
          );
        });
        return;
      case 'document-marks': // Of the plugin that marks cells.
      case 'text-read': // Of the bridge for text files.
      case 'text-apply':
      case 'text-saved':
      case 'file-moved':
      case 'file-removed':
      case 'welcome':
      case 'events':
      case 'resync':
      case 'output-draw':
      case 'session-delete':
      case 'tools-update':
      case 'settings-update':
      case 'edits-update': // Of the review.
      case 'frame-error':
        return;
    }
  };

  private async takeUp(
    open: NotebookAnnouncer,
    file: NotebookFileSync
  ): Promise<void> {
    try {
      if (await file.takeUp()) {
        open.announce();
        this.lab.mergedElsewhere(open.path);
      }
    } catch (error) {
      // The lab asks the user when the next save finds another file.
      console.warn(`The file ${open.path} could not be read again:`, error);
    }
  }

  private with(
    path: string,
    act: (open: NotebookAnnouncer, file: NotebookFileSync) => void
  ): void {
    for (const { announcement, file } of this.documents.values()) {
      if (announcement.path === path) {
        act(announcement, file);
      }
    }
  }

  private find(path: string): NotebookAnnouncer | null {
    for (const { announcement } of this.documents.values()) {
      if (announcement.path === path) {
        return announcement;
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

  private readonly inputs = new CellInputs(
    (path, cellId) => this.outputAreas(path, cellId),
    frame => this.channel.send(frame)
  );

  /** Where a cell shows its outputs, in each view of the notebook. */
  private outputAreas(path: string, cellId: string): OutputArea[] {
    return this.lab.notebooks
      .filter(({ context }) => context.localPath === path)
      .flatMap(({ content }) => content.widgets)
      .filter(({ model }) => model.id === cellId)
      .flatMap(cell => (cell instanceof CodeCell ? [cell.outputArea] : []));
  }

  private readonly offers: RecoveryOffers;
  private readonly documents = new Map<NotebookContext, IDocument>();
  private readonly answers = new Map<string, PageFrame>();
  private epochs = 0;
  private disposed = false;
}

const MAX_ANSWERS = 200;
