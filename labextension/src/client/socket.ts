/**
 * The page socket: sends hello with the cursors of the shown sessions, delivers batches of events, passes document
 * frames through, and reconnects with growing pauses. Created by the client plugin; used by the conversations and the
 * live documents. See docs/design/wire-and-api.md#page-socket.
 */

import type { IDisposable } from '@lumino/disposable';
import { Signal, type ISignal } from '@lumino/signaling';

import type { Event, PageFrame, Resync, ServerFrame } from '../wire/generated';
import { WIRE_VERSION } from '../wire/versions';

/** `reload`: the server uses another protocol version and the page must be reloaded. */
export type SocketStatus = 'connecting' | 'open' | 'closed' | 'reload';

/** The members of WebSocket used here. */
export type WebSocketLike = Pick<
  WebSocket,
  'send' | 'close' | 'readyState' | 'onopen' | 'onmessage' | 'onclose'
>;

/** The socket as other parts of the page see it. */
export interface IPageSocket {
  /** Id of this page, new with each load. */
  readonly clientId: string;
  readonly status: SocketStatus;
  readonly statusChanged: ISignal<IPageSocket, SocketStatus>;
  /** Emitted after each successful hello, also after a reconnect. */
  readonly opened: ISignal<IPageSocket, void>;
  /** Emitted with each batch of events, of any session. */
  readonly eventsReceived: ISignal<IPageSocket, readonly Event[]>;
  /** Emitted when events of a session were left out. */
  readonly resyncRequested: ISignal<IPageSocket, Resync>;
  /** Emitted with every frame that is not about sessions. */
  readonly frameReceived: ISignal<IPageSocket, ServerFrame>;
  /** Send a frame; false when the socket is closed. */
  send(frame: PageFrame): boolean;
  /** Receive a session's events after `after`. */
  subscribe(sessionId: string, after: number): void;
  /** Stop receiving events of this session, except `session-update`. */
  unsubscribe(sessionId: string): void;
  /** Connect now instead of waiting for the next attempt. */
  reconnect(): void;
  /** Replace the connection even if it looks open: after a sleep it may be dead. */
  renew(): void;
}

/** Options of the socket. */
export interface ISocketOptions {
  clientId: string;
  connect: () => WebSocketLike;
  /** Pause before attempt `n` (from 0), in ms; the default doubles from 0.5 s to 30 s, with jitter. */
  pause?: (attempt: number) => number;
}

const OPEN = 1;
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 30_000;
/** A socket without a welcome is closed after this time, in ms. */
const WELCOME_TIMEOUT = 20_000;
/** Longest time between writing and reading a welcome, in ms, unless the page slept. */
const WELCOME_DELAY = 5000;

/** Exponential back-off with full jitter on its upper half. */
export function backoff(attempt: number, random = Math.random): number {
  const ceiling = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** attempt);
  return ceiling / 2 + (random() * ceiling) / 2;
}

/** The page socket. Call `reconnect` to open it first. */
export class PageSocket implements IPageSocket, IDisposable {
  constructor(options: ISocketOptions) {
    this.clientId = options.clientId;
    this.makeSocket = options.connect;
    this.pause = options.pause ?? backoff;
  }

  readonly clientId: string;
  readonly statusChanged = new Signal<this, SocketStatus>(this);
  readonly opened = new Signal<this, void>(this);
  readonly eventsReceived = new Signal<this, readonly Event[]>(this);
  readonly resyncRequested = new Signal<this, Resync>(this);
  readonly frameReceived = new Signal<this, ServerFrame>(this);

  get status(): SocketStatus {
    return this.current;
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  send(frame: PageFrame): boolean {
    if (this.current !== 'open') {
      return false;
    }
    this.transmit(frame);
    return true;
  }

  subscribe(sessionId: string, after: number): void {
    this.cursors.set(sessionId, after);
    this.send({ type: 'subscribe', session_id: sessionId, after });
  }

  unsubscribe(sessionId: string): void {
    if (this.cursors.delete(sessionId)) {
      this.send({ type: 'unsubscribe', session_id: sessionId });
    }
  }

  reconnect(): void {
    if (this.disposed || this.current === 'reload' || this.socket !== null) {
      return;
    }
    clearTimeout(this.timer);
    this.setStatus('connecting');
    const socket = this.makeSocket();
    this.socket = socket;
    this.timer = setTimeout(() => this.lost(socket), WELCOME_TIMEOUT);
    socket.onopen = () => this.hello();
    socket.onmessage = message => this.receive(String(message.data));
    socket.onclose = () => this.lost(socket);
  }

  renew(): void {
    if (this.current === 'open') {
      this.drop();
      this.setStatus('closed');
    }
    this.reconnect();
  }

  dispose(): void {
    if (!this.disposed) {
      this.disposed = true;
      clearTimeout(this.timer);
      this.drop();
      Signal.clearData(this);
    }
  }

  private hello(): void {
    this.helloedAt = Date.now();
    this.helloed = new Set(this.cursors.keys());
    this.transmit({
      type: 'hello',
      client_id: this.clientId,
      wire_version: WIRE_VERSION,
      cursors: Object.fromEntries(this.cursors)
    });
  }

  private receive(text: string): void {
    // The server validates frames against the schema of `generated.ts`.
    const frame = JSON.parse(text) as ServerFrame;
    switch (frame.type) {
      case 'welcome':
        this.clockAhead =
          Math.min(Date.now(), this.helloedAt + WELCOME_DELAY) - frame.now_ms;
        this.welcome(frame.wire_version);
        return;
      case 'events':
        this.advance(frame.events);
        this.eventsReceived.emit(frame.events);
        return;
      case 'resync':
        this.resyncRequested.emit(frame);
        return;
      case 'frame-error':
        console.warn('The server refused a frame of this page:', frame.error);
        this.frameReceived.emit(frame);
        return;
      case 'message-sent':
      case 'message-refused':
      case 'document-read':
      case 'document-announce':
      case 'document-apply':
      case 'document-saved':
      case 'document-elsewhere':
      case 'document-recovery':
      case 'document-recovered':
      case 'document-marks':
      case 'cell-run-start':
      case 'cell-run-output':
      case 'cell-input-request':
      case 'cell-input-end':
      case 'cell-run-end':
      case 'kernel-restart':
      case 'output-draw':
      case 'text-read':
      case 'text-apply':
      case 'text-saved':
      case 'file-moved':
      case 'file-removed':
      case 'session-delete':
      case 'tools-update':
      case 'settings-update':
      case 'edits-update':
        this.frameReceived.emit(this.onOurClock(frame));
        return;
      default:
        frame satisfies never; // From a newer server, whose welcome asked for a reload.
    }
  }

  private welcome(version: number): void {
    clearTimeout(this.timer);
    if (version !== WIRE_VERSION) {
      this.drop();
      this.setStatus('reload');
      return;
    }
    this.attempt = 0;
    this.setStatus('open');
    this.subscribeLate();
    this.opened.emit();
  }

  /** Return a frame with its deadline on this page's clock; the server's may differ by minutes. */
  private onOurClock(frame: ServerFrame): ServerFrame {
    return 'deadline_ms' in frame
      ? { ...frame, deadline_ms: frame.deadline_ms + this.clockAhead }
      : frame;
  }

  /** Send subscriptions made between hello and welcome. */
  private subscribeLate(): void {
    for (const [session_id, after] of this.cursors) {
      if (!this.helloed.has(session_id)) {
        this.transmit({ type: 'subscribe', session_id, after });
      }
    }
  }

  /** Remember the position in each session for the next hello. */
  private advance(events: readonly Event[]): void {
    for (const { session_id, seq } of events) {
      const cursor = this.cursors.get(session_id);
      if (cursor === seq - 1) {
        this.cursors.set(session_id, seq);
      }
    }
  }

  private lost(socket: WebSocketLike): void {
    if (this.socket !== socket) {
      return;
    }
    this.drop();
    this.setStatus('closed');
    this.timer = setTimeout(() => this.reconnect(), this.pause(this.attempt++));
  }

  /** Close the socket and ignore its remaining messages. */
  private drop(): void {
    const socket = this.socket;
    this.socket = null;
    clearTimeout(this.timer);
    if (socket !== null) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
  }

  private transmit(frame: PageFrame): void {
    if (this.socket?.readyState === OPEN) {
      this.socket.send(JSON.stringify(frame));
    }
  }

  private setStatus(status: SocketStatus): void {
    if (status !== this.current) {
      this.current = status;
      this.statusChanged.emit(status);
    }
  }

  private readonly makeSocket: () => WebSocketLike;
  private readonly pause: (attempt: number) => number;
  private readonly cursors = new Map<string, number>();
  private helloed = new Set<string>();
  private helloedAt = 0;
  /** Upper bound of how far this page's clock is ahead of the server's, in ms. */
  private clockAhead = 0;
  private socket: WebSocketLike | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private current: SocketStatus = 'connecting';
  private attempt = 0;
  private disposed = false;
}
