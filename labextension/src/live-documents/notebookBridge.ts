/**
 * Announces the notebooks open in this page to the server and answers its requests on them. Made by the documents
 * plugin; one per page. See docs/design/notebooks.md.
 */

import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { CodeCell } from '@jupyterlab/cells';
import type { OutputArea } from '@jupyterlab/outputarea';

import type {
  DocumentApply,
  DocumentRead,
  PageFrame,
  ServerFrame
} from '../wire/generated';
import { DocumentBridge, type IFrameChannel } from './documentBridge';
import { NotebookAnnouncer } from './documentAnnouncers';
import { CaretGuard } from './notebooks/caretGuard';
import type { IFiles } from './file-sync/fileSync';
import { NotebookFileSync } from './file-sync/notebookFileSync';
import { restartKernel, showKernel } from './notebooks/kernelRestart';
import { RecoveryOffers, type LoadRecoveryView } from './recoveryOffers';
import { OpenNotebook, type NotebookContext } from './notebooks/openNotebook';
import { CellInputs } from './notebooks/cellInputs';

/** The server announces running cells right after a reconnection. Runs not announced in this time, in ms, have ended. */
const RUNS_KNOWN = 5000;

const MAX_ANSWERS = 200;

/** The parts of JupyterLab the bridge needs. */
export interface INotebookLab {
  readonly notebooks: INotebookTracker;
  readonly files: IFiles;
  /** Tells the user that `cells` cells were changed here and in the file; both texts are kept. */
  readonly notifyConflict: (path: string, cells: number) => void;
  /** Tells the user that the agent changed `cells` cells in another window that were changed here too. */
  readonly notifyElsewhere: (path: string, cells: number) => void;
  /** The changes saved by another window were merged here. */
  readonly dismissElsewhere: (path: string) => void;
  readonly loadRecoveryView: LoadRecoveryView;
}

/** The page's side of the live-document protocol for notebooks. */
export class NotebookBridge extends DocumentBridge<
  NotebookContext,
  NotebookPanel,
  NotebookAnnouncer,
  NotebookFileSync
> {
  constructor(
    channel: IFrameChannel,
    private readonly lab: INotebookLab
  ) {
    super('document', channel, lab.notebooks, MAX_ANSWERS);
    this.offers = new RecoveryOffers(lab.loadRecoveryView, frame =>
      channel.send(frame)
    );
  }

  override dispose(): void {
    super.dispose();
    this.inputs.dispose();
  }

  /** The user runs a cell of an open notebook. An agent's run of that cell becomes the user's. */
  userRunStarted(context: NotebookContext, cellId: string): void {
    const item = this.documents.get(context)?.announcement;
    item?.notebook.scheduled(cellId);
    const run_id = item?.notebook.runs.handOver(cellId) ?? null;
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

  /** The user's run of a cell has ended. */
  userRunEnded(context: NotebookContext, cellId: string): void {
    this.documents.get(context)?.announcement.runEnded(cellId);
  }

  protected override onOpened(): void {
    super.onOpened();
    this.documents.forEach(({ announcement }) =>
      announcement.notebook.runs.markDoubtful()
    );
    setTimeout(this.endDoubtfulRuns, RUNS_KNOWN);
  }

  protected override contextOf({ context }: NotebookPanel): NotebookContext {
    return context;
  }

  protected override create(context: NotebookContext) {
    const notebook = new OpenNotebook(context);
    const announcement = new NotebookAnnouncer(
      notebook,
      frame => this.channel.send(frame),
      this.nextEpoch
    );
    const file = new NotebookFileSync(notebook, this.lab.files, cells =>
      this.lab.notifyConflict(announcement.path, cells)
    );
    return { announcement, file };
  }

  protected override onReady(panel: NotebookPanel): void {
    const notebook = this.documents.get(panel.context)?.announcement.notebook;
    notebook?.carets.add(new CaretGuard(panel));
  }

  protected override onClosed(announcement: NotebookAnnouncer): void {
    this.offers.closed(announcement);
  }

  protected override onMerged(path: string): void {
    this.lab.dismissElsewhere(path);
  }

  private readonly endDoubtfulRuns = (): void =>
    this.documents.forEach(({ announcement }) =>
      announcement.notebook.runs.endDoubtful()
    );

  protected override onFrame(frame: ServerFrame): void {
    switch (frame.type) {
      case 'document-read':
        this.channel.send(this.read(frame));
        return;
      case 'document-apply':
        this.applyOnce(frame, ({ announcement }) => apply(announcement, frame));
        return;
      case 'document-announce':
        this.forEachAt(frame.path, announcement => announcement.claim());
        return;
      case 'document-saved':
        this.onSaved(frame.path);
        return;
      case 'document-elsewhere':
        this.forEachAt(frame.path, () =>
          this.lab.notifyElsewhere(frame.path, frame.cells.length)
        );
        return;
      case 'document-recovery':
        this.forEachAt(frame.path, open => this.offers.offered(open, frame));
        return;
      case 'document-recovered':
        this.offers.withdrawn(frame.recovery_id);
        return;
      case 'cell-run-start':
        this.forEachAt(frame.path, ({ notebook }) => {
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
        this.forEachAt(frame.path, ({ notebook }) => {
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
        this.forEachAt(frame.path, ({ notebook }) => {
          const { run_id, cell_id, execution_count } = frame;
          notebook.runs.ended(run_id, cell_id, execution_count);
        });
        return;
      case 'kernel-restart':
        this.forEachAt(frame.path, ({ notebook }) => {
          restartKernel(notebook.context.sessionContext, frame).catch(
            (error: unknown) => {
              // The server restarts a kernel that the page does not.
              console.warn(`The kernel of ${frame.path} stays:`, error);
            }
          );
        });
        return;
      case 'document-marks': // Handled by the cells plugin.
      case 'text-read': // Handled by `TextBridge`.
      case 'text-apply':
      case 'text-saved':
      case 'file-moved':
      case 'file-removed':
      case 'welcome':
      case 'events':
      case 'resync':
      case 'output-draw':
      case 'message-sent':
      case 'message-refused': // Handled by the message channel.
      case 'session-delete':
      case 'tools-update':
      case 'settings-update':
      case 'edits-update': // Handled by the review plugin.
      case 'frame-error':
        return;
    }
  }

  private read(frame: DocumentRead): PageFrame {
    return this.withClaim(frame, ({ announcement }) =>
      announcement.contents.read(frame)
    );
  }

  private readonly inputs = new CellInputs(
    (path, cellId) => this.outputAreas(path, cellId),
    frame => this.channel.send(frame)
  );

  /** The output areas of a cell, one in each view of the notebook. */
  private outputAreas(path: string, cellId: string): OutputArea[] {
    return this.lab.notebooks
      .filter(({ context }) => context.localPath === path)
      .flatMap(({ content }) => content.widgets)
      .filter(({ model }) => model.id === cellId)
      .flatMap(cell => (cell instanceof CodeCell ? [cell.outputArea] : []));
  }

  private readonly offers: RecoveryOffers;
}

function apply(
  announcement: NotebookAnnouncer,
  { operation_id, expected, edits }: DocumentApply
): PageFrame {
  const outcome = announcement.notebook.apply(expected, edits);
  if (outcome.kind === 'conflict') {
    const { conflicts } = outcome;
    return { type: 'document-conflict', operation_id, conflicts };
  }
  announcement.announce();
  const { versions, inverse } = outcome;
  return { type: 'document-applied', operation_id, versions, inverse };
}
