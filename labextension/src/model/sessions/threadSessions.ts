/**
 * Task threads: those of viewed documents and the latest of all. They are kept in the history, which events keep
 * current. Owned by `Conversations`.
 */

import { Signal } from '@lumino/signaling';

import {
  infoOf,
  type IHttpClient,
  type ISessionQuery
} from '../../client/http';
import type { ErrorInfo, Session } from '../../wire/generated';
import type { SessionsStore } from './sessionHistory';

/** Threads per request. */
const PAGE = 200;
/** How long a stopped turn may take to end, in ms: longer than the server waits for a tool. */
const STOP_TIMEOUT = 30_000;

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

  /** All known threads, the latest first. */
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

  /** Number of unresolved threads of a document. */
  count(document: string | null): number {
    return this.all.filter(
      ({ anchor, status }) =>
        anchor?.document === document && status !== 'resolved'
    ).length;
  }

  /** Read the threads of a document, once. Never rejects: see `error`. */
  async load(document: string): Promise<void> {
    if (!this.seen.has(document)) {
      this.seen.add(document);
      await this.attempt(() => this.readAll(document));
    }
  }

  /** Read the threads of a document again, and the latest of all. Never rejects: see `error`. */
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
  async loadMore(): Promise<void> {
    const { cursor } = this;
    if (cursor !== null) {
      await this.attempt(async () => {
        this.cursor = await this.page({ cursor });
      });
    }
  }

  /** Read everything again after a connection loss. Never rejects: see `error`. */
  async reread(): Promise<void> {
    const documents = [...this.seen];
    this.seen.clear();
    for (const document of documents) {
      await this.load(document);
    }
  }

  /** Resolve or reopen a thread; resolving stops its turn. Rejects with an `ApiError`. */
  async resolve(sessionId: string, isResolved: boolean): Promise<void> {
    const status = isResolved ? 'resolved' : 'idle';
    if (isResolved && this.isOpen(sessionId)) {
      await this.http.cancel(sessionId);
      await this.waitUntilIdle(sessionId);
    }
    const changed = await this.http.patchSession(sessionId, { status });
    this.history.receive([changed]);
  }

  /** Whether the session has an open turn. */
  private isOpen(sessionId: string): boolean {
    const status = this.history.get(sessionId)?.status;
    return (
      status === 'running' || status === 'waiting' || status === 'interrupted'
    );
  }

  /** Wait until no turn is open; after the timeout, ask the server. */
  private async waitUntilIdle(sessionId: string): Promise<void> {
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
      const timer = setTimeout(end, STOP_TIMEOUT);
      this.history.changed.connect(look);
      look();
    });
  }

  /** Read all threads of a document, and remove those the server no longer has. */
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

  /** Read a page and return the cursor of the next. */
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
      this.seen.clear(); // Retried when the document is viewed again.
      this.failure = infoOf(error);
    }
    this.changed.emit();
  }

  private readonly seen = new Set<string>();
  private cursor: string | null = null;
  private read = false;
  private failure: ErrorInfo | null = null;
}
