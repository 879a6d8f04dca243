/**
 * Sending the user's messages: shown in the outbox at once, given to the server, the session made with the first one.
 * Owned by `Conversations`.
 */

import { infoOf, type IHttpClient } from '../client/http';
import type { SendMessage, Session } from '../wire/generated';
import type { OpenTabs } from './open-tabs';

/** Takes messages to the server. */
export class Delivery {
  constructor(
    private readonly http: IHttpClient,
    private readonly tabs: OpenTabs,
    /** Makes the session of a tab that has none. */
    private readonly make: (key: string) => Promise<Session>
  ) {}

  /** Send a message. Never rejects: what went wrong stands in the outbox. */
  async send(key: string, body: SendMessage): Promise<void> {
    this.tabs.putOutgoing(key, { body, error: null });
    try {
      const sessionId = await this.begin(key);
      await this.http.sendMessage(sessionId, body);
      this.tabs.accepted(key, body.id);
    } catch (error) {
      this.tabs.putOutgoing(key, { body, error: infoOf(error) });
    }
  }

  /** The session of a tab, made now if it has none. */
  async begin(key: string): Promise<string> {
    const sessionId = this.tabs.addressee(key);
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
    const { id } = await this.make(key);
    this.tabs.bind(key, id);
    return id;
  }

  private readonly making = new Map<string, Promise<string>>();
}
