/**
 * The task threads: those of the documents somebody looks at, and the latest of all. They are kept in the history, which
 * events keep up to date. Owned by `Conversations`.
 */

import { Signal } from '@lumino/signaling';

import {
  infoOf,
  type IHttpClient,
  type ISessionQuery
} from '../../client/http';
import type { ErrorInfo, Session } from '../../wire/generated';
import type { SessionsStore } from './sessionHistory';

/** Threads asked for at once. */
const PAGE = 200;
/** How long a turn that is stopped may take to end, in ms: longer than the server lets a tool go on. */
const PATIENCE = 30_000;

/** Reads threads into the history. */
export class ThreadsStore {
  constructor(
    private readonly http: Pick<
      IHttpClient,
      'sessions' | 'patchSession' | 'cancel'
    >,
    private readonly history: SessionsStore
  ) {}

  readonly changed = new Signal<this, void>(this);

  /** All that are known, the latest first. */
  get all(): readonly Session[] {
    return this.history.all.filter(({ kind }) => kind === 'task');
  }

  get hasMore(): boolean {
    return this.cursor !== null;
  }

  /** Whether the server has answered once. */
  get isRead(): boolean {
    return this.read;
  }

  get error(): ErrorInfo | null {
    return this.failure;
  }

  /** How many threads of a document are not resolved. */
  count(document: string | null): number {
    return this.all.filter(
      ({ anchor, status }) =>
        anchor?.document === document && status !== 'resolved'
    ).length;
  }

  /** Read the threads of a document, once. Never rejects: see `error`. */
  async look(document: string): Promise<void> {
    if (!this.seen.has(document)) {
      this.seen.add(document);
      await this.attempt(() => this.readAll(document));
    }
  }

  /** Read those of a document again, and the latest of all. Never rejects: see `error`. */
  async refresh(document: string | null): Promise<void> {
    await this.attempt(async () => {
      if (document !== null) {
        this.seen.add(document);
        await this.readAll(document);
      }
      this.cursor = await this.page({});
      this.read = true;
    });
  }

  /** Read the next page of all. */
  async more(): Promise<void> {
    const { cursor } = this;
    if (cursor !== null) {
      await this.attempt(async () => {
        this.cursor = await this.page({ cursor });
      });
    }
  }

  /** What was read may have changed unheard: read it again. Never rejects: see `error`. */
  async reread(): Promise<void> {
    const documents = [...this.seen];
    this.seen.clear();
    for (const document of documents) {
      await this.look(document);
    }
  }

  /** Note that what a thread was for is done, or that it is not; what goes on in it is stopped. Rejects with an `ApiError`. */
  async resolve(sessionId: string, isResolved: boolean): Promise<void> {
    const status = isResolved ? 'resolved' : 'idle';
    if (isResolved && this.isOpen(sessionId)) {
      await this.http.cancel(sessionId);
      await this.rest(sessionId);
    }
    const changed = await this.http.patchSession(sessionId, { status });
    this.history.receive([changed]);
  }

  /** Whether a turn of it is open. */
  private isOpen(sessionId: string): boolean {
    const status = this.history.get(sessionId)?.status;
    return (
      status === 'running' || status === 'waiting' || status === 'interrupted'
    );
  }

  /** Wait until no turn is open; what this page has not heard of by then the server says. */
  private async rest(sessionId: string): Promise<void> {
    await new Promise<void>(done => {
      const end = (): void => {
        clearTimeout(timer);
        this.history.changed.disconnect(look);
        done();
      };
      const look = (): void => {
        if (!this.isOpen(sessionId)) {
          end();
        }
      };
      const timer = setTimeout(end, PATIENCE);
      this.history.changed.connect(look);
      look();
    });
  }

  /** Read all of a document; those the server no longer has are gone. */
  private async readAll(document: string): Promise<void> {
    const before = this.all.filter(
      ({ anchor }) => anchor?.document === document
    );
    const listed = new Set<string>();
    let cursor: string | null = null;
    do {
      cursor = await this.page(
        { document, ...(cursor === null ? {} : { cursor }) },
        listed
      );
    } while (cursor !== null);
    before
      .filter(({ id }) => !listed.has(id))
      .forEach(({ id }) => this.history.remove(id));
  }

  /** Read a page; the cursor of the next. */
  private async page(
    query: ISessionQuery,
    listed = new Set<string>()
  ): Promise<string | null> {
    const asked = { kind: 'task', limit: PAGE, ...query } as const;
    const { sessions, next_cursor } = await this.http.sessions(asked);
    sessions.forEach(({ id }) => listed.add(id));
    this.history.receive(sessions);
    return next_cursor;
  }

  private async attempt(read: () => Promise<void>): Promise<void> {
    try {
      await read();
      this.failure = null;
    } catch (error) {
      this.seen.clear(); // Tried again when somebody looks again.
      this.failure = infoOf(error);
    }
    this.changed.emit();
  }

  private readonly seen = new Set<string>();
  private cursor: string | null = null;
  private read = false;
  private failure: ErrorInfo | null = null;
}
