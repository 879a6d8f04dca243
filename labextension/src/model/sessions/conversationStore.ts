/**
 * One conversation in this page. Loads the log from its cursor, folds events from the socket, and reloads after a gap.
 * Owned by `Conversations`.
 */

import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import { infoOf, type IHttpClient } from '../../client/http';
import type { IPageSocket } from '../../client/socket';
import type { Conversation, ErrorInfo, Event } from '../../wire/generated';
import type { IEarlierConversation } from './messageBranches';
import { EMPTY } from '../reducer/emptyConversation';
import { nextFrame, oncePerFrame, type Schedule } from './animationFrames';
import type * as Rules from '../reducer/conversation';

/** Events per request; the server's limit. */
const PAGE = 5000;

/** A session's conversation. */
export class ConversationStore implements IDisposable {
  constructor(
    readonly sessionId: string,
    private readonly http: Pick<IHttpClient, 'events'>,
    private readonly socket: Pick<IPageSocket, 'subscribe' | 'unsubscribe'>,
    schedule: Schedule = nextFrame
  ) {
    this.notify = oncePerFrame(() => this.changed.emit(), schedule);
  }

  /** Emitted at most once per animation frame. */
  readonly changed = new Signal<this, void>(this);

  get view(): Conversation {
    return this.state;
  }

  /** The conversations left when the user edited or restored to a message, oldest first. */
  get earlierConversations(): readonly IEarlierConversation[] {
    return this.left;
  }

  /** Whether the log has been read once. */
  get isReady(): boolean {
    return this.ready;
  }

  /** Why the log could not be read. */
  get error(): ErrorInfo | null {
    return this.failure;
  }

  /** Whether the log has an event that cannot be read; the conversation is then read-only. */
  get isDamaged(): boolean {
    return this.damaged;
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  /** Read the log from the cursor on, then follow it. Never rejects: see `error`. */
  async load(): Promise<void> {
    if (this.loading || this.disposed) {
      return;
    }
    this.loading = true;
    this.failure = null;
    try {
      await this.catchUp();
      this.ready = true;
      this.follow();
    } catch (error) {
      this.failure = infoOf(error);
    } finally {
      this.loading = false;
      this.notify();
    }
  }

  /** Fold events of this session; events folded before are ignored. */
  receive(events: readonly Event[]): void {
    const { rules } = this;
    if (this.loading || rules === null) {
      return; // The subscription that follows delivers them again.
    }
    for (const event of events) {
      if (event.seq > this.state.last_seq + 1) {
        void this.load();
        return;
      }
      this.fold(event, rules);
    }
    this.notify();
  }

  dispose(): void {
    if (!this.disposed) {
      this.disposed = true;
      this.socket.unsubscribe(this.sessionId);
      Signal.clearData(this);
    }
  }

  private async catchUp(): Promise<void> {
    const rules = (this.rules ??= await import('../reducer/conversation'));
    for (let more = true; more && !this.disposed;) {
      const { last_seq } = this.state;
      const page = await this.http.events(this.sessionId, last_seq, PAGE);
      if (page.last_seq < last_seq) {
        this.reset(); // Shown events are gone: the log was restored from a backup.
        continue;
      }
      page.events.forEach(event => this.fold(event, rules));
      more = page.has_more && this.state.last_seq > last_seq;
    }
  }

  private reset(): void {
    this.state = EMPTY;
    this.left = [];
    this.damaged = false;
  }

  /** Skip an event that cannot be folded, so that the rest is shown. */
  private fold(event: Event, rules: typeof Rules): void {
    try {
      this.damaged ||= !rules.isKnown(event);
      this.state = this.keepHidden(rules.reduceConversation(this.state, event));
    } catch (error) {
      this.damaged = true;
      this.state = { ...this.state, last_seq: event.seq };
      console.warn(`Event ${event.seq} cannot be shown:`, error);
    }
  }

  /** Remember what the next state hides. */
  private keepHidden(next: Conversation): Conversation {
    const { messages, branches } = this.state;
    const branch = next.branches[branches.length];
    if (branch !== undefined) {
      this.left = [...this.left, { branch, messages }];
    }
    return next;
  }

  private follow(): void {
    if (!this.disposed) {
      this.socket.subscribe(this.sessionId, this.state.last_seq);
    }
  }

  private readonly notify: () => void;
  /** The reducer, loaded with the first log; pages without conversations never load it. */
  private rules: typeof Rules | null = null;
  private state: Conversation = EMPTY;
  private left: readonly IEarlierConversation[] = [];
  private ready = false;
  private loading = false;
  private damaged = false;
  private failure: ErrorInfo | null = null;
  private disposed = false;
}
