/**
 * The followed conversations: one store each, fed by the socket; also which sessions were deleted. Owned by
 * `Conversations`.
 */

import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import type { IHttpClient } from '../../client/http';
import type { IPageSocket } from '../../client/socket';
import type {
  ErrorInfo,
  Event,
  Resync,
  ServerFrame
} from '../../wire/generated';
import { ConversationStore } from './conversationStore';
import type { Schedule } from './animationFrames';
import { sessionsIn, type SessionsStore } from './sessionHistory';

/** Dependencies of the subscriptions. */
export interface ISessionSubscriptionOptions {
  http: IHttpClient;
  socket: IPageSocket;
  schedule?: Schedule;
}

/** The stores, by session. */
export class SessionSubscriptions implements IDisposable {
  constructor(
    private readonly options: ISessionSubscriptionOptions,
    private readonly history: SessionsStore
  ) {
    const { socket } = options;
    socket.eventsReceived.connect(this.onEvents, this);
    socket.resyncRequested.connect(this.onResync, this);
    socket.frameReceived.connect(this.onFrame, this);
  }

  /** Emitted when a log was folded. */
  readonly folded = new Signal<this, ConversationStore>(this);

  get isDisposed(): boolean {
    return this.disposed;
  }

  /** The store of a followed session. */
  get(sessionId: string): ConversationStore | undefined {
    return this.stores.get(sessionId);
  }

  /** Follow a session and return its store. */
  follow(sessionId: string): ConversationStore {
    const known = this.stores.get(sessionId);
    if (known !== undefined) {
      return known;
    }
    const { http, socket, schedule } = this.options;
    const made = new ConversationStore(sessionId, http, socket, schedule);
    this.stores.set(sessionId, made);
    made.changed.connect(this.onFolded, this);
    void made.load();
    return made;
  }

  /** Stop following, unless it is watched. */
  unfollow(sessionId: string): void {
    if (!this.watched.has(sessionId)) {
      this.stores.get(sessionId)?.dispose();
      this.stores.delete(sessionId);
    }
  }

  /** Set whether a session is watched outside the tabs. */
  watch(sessionId: string, isWatched: boolean): void {
    this.watched[isWatched ? 'add' : 'delete'](sessionId);
  }

  isDeleted(sessionId: string): boolean {
    return this.deleted.has(sessionId);
  }

  /** Mark a session as deleted; its store keeps its view. */
  markDeleted(sessionId: string): void {
    this.deleted.add(sessionId);
    this.history.remove(sessionId);
  }

  /** Mark a session as restored and read it. */
  async restore(sessionId: string): Promise<void> {
    this.deleted.delete(sessionId);
    void this.history.refresh();
    await this.stores.get(sessionId)?.load();
  }

  dispose(): void {
    if (!this.disposed) {
      this.disposed = true;
      this.stores.forEach(store => store.dispose());
      Signal.clearData(this);
    }
  }

  private readonly onFolded = (store: ConversationStore): void => {
    this.folded.emit(store);
  };

  private readonly onEvents = (
    _: IPageSocket,
    events: readonly Event[]
  ): void => {
    bySession(events).forEach((list, id) => this.stores.get(id)?.receive(list));
    const sessions = sessionsIn(events);
    sessions.forEach(({ id }) => this.deleted.delete(id)); // The update shows that it was restored.
    this.history.receive(sessions);
  };

  private readonly onResync = (_: IPageSocket, frame: Resync): void => {
    void this.stores.get(frame.session_id)?.load();
  };

  /** Handle deleted sessions, announced to all pages or to a new subscriber, and logs that became shorter. */
  private readonly onFrame = (_: IPageSocket, frame: ServerFrame): void => {
    if (frame.type === 'session-delete') {
      this.markDeleted(frame.session_id);
    } else if (frame.type === 'frame-error') {
      const sessionId = frame.error.details?.session_id;
      if (typeof sessionId === 'string') {
        this.onRefused(sessionId, frame.error);
      }
    }
  };

  private onRefused(sessionId: string, { code }: ErrorInfo): void {
    if (code === 'not_found') {
      this.markDeleted(sessionId);
    } else if (code === 'stale') {
      void this.stores.get(sessionId)?.load();
    }
  }

  /** Sessions deleted while this page knew them. */
  private readonly deleted = new Set<string>();
  private readonly stores = new Map<string, ConversationStore>();
  private readonly watched = new Set<string>();
  private disposed = false;
}

function bySession(events: readonly Event[]): Map<string, Event[]> {
  const lists = new Map<string, Event[]>();
  for (const event of events) {
    const list = lists.get(event.session_id);
    if (list === undefined) {
      lists.set(event.session_id, [event]);
    } else {
      list.push(event);
    }
  }
  return lists;
}
