/**
 * Sends messages over the page socket, which saves the server a whole request, and by HTTP where the socket cannot:
 * closed, message too large, or lost before the answer. A message's id makes sending it twice harmless. Used by
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

/** A message whose answer has not come. */
interface IWaiting {
  readonly accept: (accepted: MessageAccepted) => void;
  readonly refuse: (error: ApiError) => void;
  readonly sendByHttp: () => void;
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
        }
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
    return waiting;
  }

  private giveUpSocket(): void {
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const { sendByHttp } of waiting) {
      sendByHttp();
    }
  }

  private readonly waiting = new Map<string, IWaiting>();
}
