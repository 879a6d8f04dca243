/**
 * Sends the user's messages. They appear in the outbox at once; the session is created with the first one. When the
 * server refuses the first message of a thread, its empty session is deleted. Owned by `Conversations`.
 */

import { ApiError, infoOf, type IHttpClient } from '../../client/http';
import { MessageChannel } from '../../client/messageChannel';
import type { IPageSocket } from '../../client/socket';
import type { Anchor, SendMessage, Session } from '../../wire/generated';
import type { OpenTabs } from './openTabs';

/** Delivers messages to the server. */
export class MessageSender {
  constructor(
    { http, socket }: { http: IHttpClient; socket: IPageSocket },
    private readonly tabs: OpenTabs,
    /** Creates the session of a tab that has none. */
    private readonly make: (key: string) => Promise<Session>
  ) {
    this.http = http;
    this.channel = new MessageChannel(socket, http);
  }

  /** Send a message. Never rejects: errors are in the outbox. */
  async send(key: string, body: SendMessage): Promise<void> {
    this.tabs.putPending(key, { body, error: null });
    try {
      const sessionId = await this.ensureSession(key);
      await this.deliver(sessionId, body);
      this.tabs.accepted(key, body.id);
    } catch (error) {
      this.tabs.putPending(key, { body, error: infoOf(error) });
    }
  }

  /** Return the session of a tab, creating it when there is none. */
  async ensureSession(key: string): Promise<string> {
    const sessionId = this.tabs.recipient(key);
    if (sessionId !== null) {
      return sessionId;
    }
    const making = this.making.get(key) ?? this.made(key);
    this.making.set(key, making);
    try {
      return await making;
    } finally {
      this.making.delete(key);
    }
  }

  private async made(key: string): Promise<string> {
    const anchor = this.tabs.anchorOf(key);
    const { id } = await this.make(key);
    if (anchor !== null) {
      this.empty.set(id, { anchor, sending: 0 });
    }
    this.tabs.bind(key, id);
    return id;
  }

  private async deliver(sessionId: string, body: SendMessage): Promise<void> {
    const empty = this.empty.get(sessionId);
    if (empty === undefined) {
      await this.channel.send(sessionId, body);
      return;
    }
    empty.sending += 1;
    try {
      await this.channel.send(sessionId, body);
      this.empty.delete(sessionId);
    } catch (error) {
      empty.sending -= 1;
      if (isRefusal(error) && empty.sending === 0) {
        await this.deleteEmptyThread(sessionId, empty.anchor);
      }
      throw error;
    }
  }

  /** Delete a thread without messages. Its text stays in the tab and starts another one. Never rejects. */
  private async deleteEmptyThread(
    sessionId: string,
    anchor: Anchor
  ): Promise<void> {
    if (this.empty.delete(sessionId)) {
      this.tabs.unbind(sessionId, anchor);
      try {
        await this.http.deleteSession(sessionId);
      } catch (error) {
        // The server deletes empty threads after a day.
        console.warn(`The empty thread ${sessionId} is left:`, error);
      }
    }
  }

  private readonly http: IHttpClient;
  private readonly channel: MessageChannel;
  private readonly making = new Map<string, Promise<string>>();
  /** Threads created here without messages yet: their anchors and how many messages are being sent. */
  private readonly empty = new Map<
    string,
    { readonly anchor: Anchor; sending: number }
  >();
}

/** Whether the server refused the message for good. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    error.status >= 400 &&
    error.status < 500 &&
    !error.info.retryable
  );
}
