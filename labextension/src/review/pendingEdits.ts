/**
 * Store of the agent's edits that wait for keep or undo: read when the page opens and whenever the server reports a
 * change. Made by the review plugin; independent of JupyterLab.
 */

import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import { ApiError, type IHttpClient } from '../client/http';
import type { IPageSocket } from '../client/socket';
import type {
  DecideEdit,
  EditChoice,
  EditDecisions,
  KernelDrift,
  PendingEdit,
  Restore,
  ServerFrame
} from '../wire/generated';
import type { Decision } from '../editor/hunkDecorations';

/** The HTTP routes in use. */
export type ReviewRoutes = Pick<
  IHttpClient,
  'pendingEdits' | 'decideEdit' | 'decideEdits' | 'undoTurn'
>;

/** The socket members in use. */
export type ReviewSocket = Pick<
  IPageSocket,
  'frameReceived' | 'opened' | 'status'
>;

const CONFLICT = 409;
const NOT_FOUND = 404;
/** Delays between retries in ms: the server gets the user's last keystrokes a moment after the page. */
const RETRY_DELAYS = [200, 400, 800, 1600];

/** The pending edits of all documents. */
export class PendingEditsStore implements IDisposable {
  constructor(
    private readonly http: ReviewRoutes,
    socket: ReviewSocket,
    private readonly pause: (milliseconds: number) => Promise<void> = wait
  ) {
    socket.frameReceived.connect(this.onFrame, this);
    socket.opened.connect(this.onOpened, this);
    if (socket.status === 'open') {
      this.onOpened();
    }
  }

  /** Emitted when the list changed. */
  readonly changed = new Signal<this, void>(this);

  /** Emitted when an undo leaves state in a kernel. */
  readonly drifted = new Signal<this, readonly KernelDrift[]>(this);

  /** By document, cells in order. */
  get edits(): readonly PendingEdit[] {
    return this.list;
  }

  /** Whether the list has been read. */
  get isReady(): boolean {
    return this.ready;
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  /** Read the list; a call during a read causes one more. */
  async refresh(): Promise<void> {
    this.wanted = true;
    this.reading ??= this.read().finally(() => {
      this.reading = null;
    });
    await this.reading;
  }

  /** Decide on one edit. Rejects with an `ApiError`. */
  async decide(id: string, body: DecideEdit): Promise<void> {
    const { drift } = await this.retryWhileStale(() =>
      this.http.decideEdit(id, body)
    );
    this.told(drift === null ? [] : [drift]);
    await this.refresh();
  }

  /** Decide on whole edits. Rejects with an `ApiError`, also when some were left undecided. */
  async decideAll(
    decision: Decision,
    edits: readonly PendingEdit[]
  ): Promise<void> {
    const [first, ...others] = edits.map(choiceOf);
    if (first === undefined) {
      return;
    }
    try {
      this.took(
        await this.http.decideEdits({ decision, edits: [first, ...others] })
      );
    } finally {
      await this.refresh();
    }
  }

  /** Undo all changes of a turn. Rejects with an `ApiError`. */
  async undoTurn(sessionId: string, turnId: string): Promise<Restore> {
    const restore = await this.http.undoTurn(sessionId, { turn_id: turnId });
    await this.refresh();
    return restore;
  }

  dispose(): void {
    if (!this.disposed) {
      this.disposed = true;
      Signal.clearData(this);
    }
  }

  private async read(): Promise<void> {
    while (this.wanted && !this.disposed) {
      this.wanted = false;
      try {
        const { edits } = await this.http.pendingEdits();
        this.take(edits);
      } catch (error) {
        if (!(error instanceof ApiError)) {
          throw error;
        }
        if (error.status !== NOT_FOUND) {
          // Read again with the next change and after a reconnection.
          console.warn('The changes to look through were not read:', error);
        }
      }
    }
  }

  private take(edits: readonly PendingEdit[]): void {
    const isSame = JSON.stringify(edits) === JSON.stringify(this.list);
    this.list = edits;
    if (!this.ready || !isSame) {
      this.ready = true;
      this.changed.emit();
    }
  }

  private took({ left, drift }: EditDecisions): void {
    this.told(drift);
    const [first] = left;
    if (first !== undefined) {
      throw new ApiError(CONFLICT, first.error);
    }
  }

  private told(drift: readonly KernelDrift[]): void {
    const held = drift.filter(({ cells }) => cells.length > 0);
    if (held.length > 0) {
      this.drifted.emit(held);
    }
  }

  /** Retry while the server does not have the current text. */
  private async retryWhileStale<T>(ask: () => Promise<T>): Promise<T> {
    for (const milliseconds of RETRY_DELAYS) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof ApiError && error.status === CONFLICT)) {
          throw error;
        }
        await this.pause(milliseconds);
      }
    }
    return ask();
  }

  private readonly onFrame = (_: unknown, frame: ServerFrame): void => {
    if (frame.type === 'edits-update') {
      void this.refresh();
    }
  };

  private readonly onOpened = (): void => void this.refresh();

  private list: readonly PendingEdit[] = [];
  private reading: Promise<void> | null = null;
  private wanted = false;
  private ready = false;
  private disposed = false;
}

function choiceOf(edit: PendingEdit): EditChoice {
  const { id, current_version, baseline_version } = edit;
  return { id, current_version, baseline_version };
}

function wait(milliseconds: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, milliseconds));
}
