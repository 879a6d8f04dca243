/** What the user may do in one conversation beside sending messages. Owned by `Conversations`, used by the views. */

import type { ExportFormat, IHttpClient } from '../../client/http';
import type {
  AnswerApproval,
  AnswerQuestion,
  RestoreSession,
  ResumeTurn,
  SupplyResult
} from '../../wire/generated';

/** Commands by the key of a conversation's tab; each rejects with an `ApiError`. */
export interface ISessionCommands {
  cancel(key: string): Promise<void>;
  /** Have earlier messages summarised for the model before the next one is answered. */
  compact(key: string): Promise<void>;
  /** Go on with a turn that was interrupted or paused, at a limit of money with a higher one, or end it. */
  resume(key: string, body: ResumeTurn): Promise<void>;
  answerApproval(
    key: string,
    callId: string,
    body: AnswerApproval
  ): Promise<void>;
  answerQuestion(
    key: string,
    callId: string,
    answer: readonly string[]
  ): Promise<void>;
  /** Go back to before a message, or take a restore back. */
  restore(key: string, body: RestoreSession): Promise<void>;
  /** Take back what a turn did to notebooks and files. */
  undoTurn(key: string, turnId: string): Promise<void>;
  /** Type what running code asks for. */
  answerInput(key: string, callId: string, text: string): Promise<void>;
  supplyResult(key: string, callId: string, body: SupplyResult): Promise<void>;
  editQueued(key: string, messageId: string, text: string): Promise<void>;
  removeQueued(key: string, messageId: string): Promise<void>;
  /** Begin a turn with a queued message, and with those queued beside it. */
  sendQueued(key: string, messageId: string): Promise<void>;
  artifact(key: string, name: string): Promise<Blob>;
  exportAs(key: string, format: ExportFormat): Promise<Blob>;
}

/** The commands over HTTP. */
export class SessionCommands implements ISessionCommands {
  constructor(
    private readonly http: IHttpClient,
    /** The session of a tab; throws when it has none. */
    private readonly idOf: (key: string) => string
  ) {}

  async cancel(key: string): Promise<void> {
    await this.http.cancel(this.idOf(key));
  }

  async compact(key: string): Promise<void> {
    await this.http.compact(this.idOf(key));
  }

  async resume(key: string, body: ResumeTurn): Promise<void> {
    await this.http.resume(this.idOf(key), body);
  }

  async answerApproval(
    key: string,
    callId: string,
    body: AnswerApproval
  ): Promise<void> {
    await this.http.answerApproval(this.idOf(key), callId, body);
  }

  async answerQuestion(
    key: string,
    callId: string,
    picks: readonly string[]
  ): Promise<void> {
    const [only] = picks;
    const answer = picks.length === 1 && only !== undefined ? only : [...picks];
    const body = { answer } as AnswerQuestion; // One to six, as many as there are options.
    await this.http.answerQuestion(this.idOf(key), callId, body);
  }

  async restore(key: string, body: RestoreSession): Promise<void> {
    await this.http.restore(this.idOf(key), body);
  }

  async undoTurn(key: string, turnId: string): Promise<void> {
    await this.http.undoTurn(this.idOf(key), { turn_id: turnId });
  }

  async answerInput(key: string, callId: string, text: string): Promise<void> {
    await this.http.answerInput(this.idOf(key), callId, { text });
  }

  async supplyResult(
    key: string,
    callId: string,
    body: SupplyResult
  ): Promise<void> {
    await this.http.supplyResult(this.idOf(key), callId, body);
  }

  async editQueued(
    key: string,
    messageId: string,
    text: string
  ): Promise<void> {
    await this.http.editMessage(this.idOf(key), messageId, text);
  }

  async removeQueued(key: string, messageId: string): Promise<void> {
    await this.http.removeMessage(this.idOf(key), messageId);
  }

  async sendQueued(key: string, messageId: string): Promise<void> {
    await this.http.sendQueued(this.idOf(key), messageId);
  }

  async artifact(key: string, name: string): Promise<Blob> {
    return this.http.artifact(this.idOf(key), name);
  }

  async exportAs(key: string, format: ExportFormat): Promise<Blob> {
    return this.http.exportSession(this.idOf(key), format);
  }
}
