/**
 * Sends messages over the page socket, which saves the server a whole request, and by HTTP where the socket cannot:
 * closed, message too large, or without an answer. A message's id makes sending it twice harmless. Used by
 * `MessageSender`. See docs/design/wire-and-api.md#page-socket.
 */

import type {
  MessageAccepted,
  SendMessage,
  ServerFrame
} from '../wire/generated';
import { ApiError, type IHttpClient } from './http';
import type { IPageSocket } from './socket';

/** Longest message for the socket, in characters of JSON: a longer one would hold up the frames of open documents. */
const LONGEST = 1 << 16;

/** Time after which a socket that has not answered is taken for dead, in ms: a lost network closes none. */
const ANSWER_TIMEOUT = 5000;

/** A message whose answer has not come. */
interface IWaiting {
  readonly accept: (accepted: MessageAccepted) => void;
  readonly refuse: (error: ApiError) => void;
  readonly sendByHttp: () => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** Delivers messages to the server. */
export class MessageChannel {
  constructor(
    private readonly socket: IPageSocket,
    private readonly http: Pick<IHttpClient, 'sendMessage'>
  ) {
    socket.frameReceived.connect((_, frame) => this.receive(frame));
    socket.statusChanged.connect((_, status) => {
      if (status !== 'open') {
        this.giveUpSocket();
      }
    });
  }

  /** Send a message. Rejects with an `ApiError`. */
  async send(sessionId: string, body: SendMessage): Promise<MessageAccepted> {
    const text = JSON.stringify(body);
    const sent =
      text.length <= LONGEST &&
      this.socket.send({
        type: 'message-send',
        session_id: sessionId,
        message: body
      });
    if (!sent) {
      return this.http.sendMessage(sessionId, body);
    }
    return new Promise((accept, refuse) => {
      this.waiting.set(body.id, {
        accept,
        refuse,
        sendByHttp: () => {
          this.http.sendMessage(sessionId, body).then(accept, refuse);
        },
        timer: setTimeout(() => this.renewSocket(), ANSWER_TIMEOUT)
      });
    });
  }

  private receive(frame: ServerFrame): void {
    if (frame.type === 'message-sent') {
      this.take(frame.message_id)?.accept(frame.accepted);
    } else if (frame.type === 'message-refused') {
      const error = new ApiError(frame.status, frame.error);
      this.take(frame.message_id)?.refuse(error);
    } else if (frame.type === 'frame-error') {
      this.giveUpSocket(); // a server that does not know the frame, or cannot read it
    }
  }

  private take(messageId: string): IWaiting | undefined {
    const waiting = this.waiting.get(messageId);
    this.waiting.delete(messageId);
    clearTimeout(waiting?.timer);
    return waiting;
  }

  /** Replace the socket, whose state of `closed` sends what waits by HTTP. */
  private renewSocket(): void {
    console.warn('The server did not answer on the socket: connecting again.');
    this.socket.renew();
    this.giveUpSocket(); // where the socket was not open
  }

  private giveUpSocket(): void {
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const { sendByHttp, timer } of waiting) {
      clearTimeout(timer);
      sendByHttp();
    }
  }

  private readonly waiting = new Map<string, IWaiting>();
}
