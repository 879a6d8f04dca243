/**
 * Connects a panel in a notebook's output to the server through the kernel, by widget messages. Replaces the browser's
 * fetch and WebSocket. Created by `index`, one per view.
 */

import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import type { WebSocketLike } from '../client/socket';
import type {
  IHttpAnswer,
  IModel,
  KernelMessage,
  ModelCallback,
  PageMessage
} from './protocol';

/**
 * Status of the kernel: `asking` before its first answer, `silent` after a timeout, `gone` when it cannot reach the
 * server, `slow` when messages of the page wait for a running cell.
 */
export type RelayStatus =
  | { readonly kind: 'asking' | 'silent' | 'slow' | 'ready' }
  | { readonly kind: 'gone'; readonly reason: string };

/** Options of the relay; times in ms. */
export interface IRelayOptions {
  readonly model: IModel;
  readonly newId: () => string;
  /** After this time without an answer the kernel counts as busy or stopped. */
  readonly timeout?: number;
  /** Interval of the hello messages. */
  readonly helloInterval?: number;
}

const ANSWER_TIMEOUT = 4000;
const HELLO_INTERVAL = 10_000;
const NO_BODY = new Set([204, 205, 304]);

interface IWaiting {
  resolve: (answer: Response) => void;
  reject: (reason: Error) => void;
}

/** The relay of one view. */
export class Relay implements IDisposable {
  constructor(private readonly options: IRelayOptions) {
    this.view = options.newId();
    options.model.on('msg:custom', this.onMessage);
    options.model.on('comm_live_update', this.onConnectionChanged);
    this.hello();
    this.timer = setInterval(
      this.repeatHello,
      options.helloInterval ?? HELLO_INTERVAL
    );
  }

  readonly changed = new Signal<this, void>(this);

  get status(): RelayStatus {
    return this.current;
  }

  /** Path of the kernel's notebook, if known. */
  get notebook(): string | null {
    return this.path;
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  /** Send a hello now. */
  readonly hello = (): void => {
    this.post({ t: 'hello' });
    this.startTimeout();
  };

  /** Send a request below the API's root. Rejects when it is abandoned. */
  readonly fetch = (path: string, init: RequestInit): Promise<Response> => {
    const id = this.options.newId();
    const answer = new Promise<Response>((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
    });
    const { method = 'GET', body } = init;
    this.post({
      t: 'http',
      id,
      method,
      path,
      body: typeof body === 'string' ? body : null
    });
    this.startTimeout();
    return answer;
  };

  /** Open a socket to the server. */
  readonly connect = (): WebSocketLike => {
    const id = this.options.newId();
    const socket = new RelayedSocket(id, message => this.post(message));
    this.sockets.set(id, socket);
    this.post({ t: 'open', id });
    return socket;
  };

  dispose(): void {
    if (this.disposed) {
      return;
    }
    this.disposed = true;
    clearInterval(this.timer);
    clearTimeout(this.timeout);
    this.post({ t: 'close', id: null });
    this.options.model.off('msg:custom', this.onMessage);
    this.options.model.off('comm_live_update', this.onConnectionChanged);
    // Nobody is left to be told about answers.
    this.waiting.clear();
    this.sockets.clear();
    Signal.clearData(this);
  }

  /** Repeated while the kernel or the server does not answer. */
  private readonly repeatHello = (): void => {
    if (this.current.kind !== 'ready') {
      this.hello();
    }
  };

  /** The kernel's connection changed or closed; open requests will not be answered. */
  private readonly onConnectionChanged = (): void => {
    this.giveUp('The kernel was restarted, or has ended.');
    this.change({ kind: 'asking' });
    this.hello();
  };

  private readonly onMessage: ModelCallback = (content, buffers = []) => {
    if (!isOf(content, this.view)) {
      return;
    }
    clearTimeout(this.timeout);
    this.timeout = undefined;
    const answered = this.handle(content, buffers);
    this.change(answered ?? this.statusAfterMessage());
    if (this.waiting.size > 0) {
      this.startTimeout();
    }
  };

  /** Handle a message; returns the new status if it tells one. */
  private handle(
    message: KernelMessage,
    buffers: readonly DataView[]
  ): RelayStatus | null {
    switch (message.t) {
      case 'ready':
        return this.welcome(message);
      case 'gone':
        return { kind: 'gone', reason: message.reason };
      case 'http':
        this.answer(message, buffers);
        return null;
      case 'opened':
        this.sockets.get(message.id)?.opened();
        return this.welcome(null);
      case 'frame':
        this.sockets.get(message.id)?.received(message.text);
        return null;
      case 'closed':
        this.sockets.get(message.id)?.closed();
        this.sockets.delete(message.id);
        return null;
    }
  }

  private welcome(
    message: (KernelMessage & { t: 'ready' }) | null
  ): RelayStatus {
    this.path = message?.notebook ?? this.path;
    if (message?.server === false) {
      const { current } = this;
      return current.kind === 'gone' ? current : { kind: 'gone', reason: '' };
    }
    return { kind: 'ready' };
  }

  /** Any message shows that the kernel is alive. */
  private statusAfterMessage(): RelayStatus {
    const { kind } = this.current;
    return kind === 'slow' || kind === 'silent'
      ? { kind: 'ready' }
      : this.current;
  }

  private answer(message: IHttpAnswer, buffers: readonly DataView[]): void {
    const { status, content_type, body } = message;
    const waiting = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    const content = body ?? (buffers[0] ? bytesOf(buffers[0]) : '');
    waiting?.resolve(
      new Response(NO_BODY.has(status) ? null : content, {
        status,
        headers: { 'Content-Type': content_type }
      })
    );
  }

  /** Start the timeout for an answer. */
  private startTimeout(): void {
    this.timeout ??= setTimeout(() => {
      this.timeout = undefined;
      const known = this.current.kind === 'ready';
      if (this.current.kind !== 'gone') {
        this.change({ kind: known ? 'slow' : 'silent' });
      }
    }, this.options.timeout ?? ANSWER_TIMEOUT);
  }

  private giveUp(reason: string): void {
    const { waiting, sockets } = this;
    [...waiting.values()].forEach(({ reject }) => reject(new Error(reason)));
    waiting.clear();
    [...sockets.values()].forEach(socket => socket.closed());
    sockets.clear();
  }

  private post(message: PageMessage): void {
    try {
      this.options.model.send({ view: this.view, ...message });
    } catch (error) {
      // JupyterLab refuses to send to a dead kernel; the timeout of `startTimeout` shows that.
      console.warn('The kernel of this panel cannot be reached:', error);
    }
  }

  private change(standing: RelayStatus): void {
    if (JSON.stringify(standing) !== JSON.stringify(this.current)) {
      this.current = standing;
      this.changed.emit();
    }
  }

  private readonly view: string;
  private readonly waiting = new Map<string, IWaiting>();
  private readonly sockets = new Map<string, RelayedSocket>();
  private readonly timer: ReturnType<typeof setInterval>;
  private timeout: ReturnType<typeof setTimeout> | undefined;
  private current: RelayStatus = { kind: 'asking' };
  private path: string | null = null;
  private disposed = false;
}

/** A server socket behind the interface of WebSocket. */
class RelayedSocket implements WebSocketLike {
  constructor(
    private readonly id: string,
    private readonly say: (message: PageMessage) => void
  ) {}

  onopen: WebSocketLike['onopen'] = null;
  onmessage: WebSocketLike['onmessage'] = null;
  onclose: WebSocketLike['onclose'] = null;

  get readyState(): number {
    return this.state;
  }

  send(text: string): void {
    this.say({ t: 'send', id: this.id, text });
  }

  close(): void {
    if (this.state !== CLOSED) {
      this.state = CLOSED;
      this.say({ t: 'close', id: this.id });
    }
  }

  opened(): void {
    if (this.state === CONNECTING) {
      this.state = OPEN;
      this.onopen?.call(this.asSocket, new Event('open'));
    }
  }

  received(text: string): void {
    const event = new MessageEvent('message', { data: text });
    this.onmessage?.call(this.asSocket, event);
  }

  closed(): void {
    this.state = CLOSED;
    this.onclose?.call(this.asSocket, new CloseEvent('close'));
  }

  /** Callers use no other members of WebSocket. */
  private get asSocket(): WebSocket {
    return this as unknown as WebSocket;
  }

  private state = CONNECTING;
}

const CONNECTING = 0;
const OPEN = 1;
const CLOSED = 3;

function bytesOf(view: DataView): Uint8Array<ArrayBuffer> {
  // A copy: the front end may reuse the memory.
  return new Uint8Array(
    new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
  );
}

/** Whether it is a message to this view; the kernel validates what it sends. */
function isOf(content: unknown, view: string): content is KernelMessage {
  return (
    typeof content === 'object' &&
    content !== null &&
    'view' in content &&
    content.view === view &&
    't' in content &&
    content.t !== 'code'
  );
}
