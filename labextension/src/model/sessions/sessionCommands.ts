/** Commands for one conversation, except sending messages. Owned by `Conversations`, used by the views. */

import type { ExportFormat, IHttpClient } from '../../client/http';
import type {
  AnswerApproval,
  AnswerQuestion,
  PatchAgent,
  RestoreSession,
  ResumeTurn,
  SupplyResult
} from '../../wire/generated';

/** Commands by tab key; each rejects with an `ApiError`. */
export interface ISessionCommands {
  cancel(key: string): Promise<void>;
  /** Summarise earlier messages for the model before the next answer. */
  compact(key: string): Promise<void>;
  /** Resume or end an interrupted or paused turn; at a budget limit, with a higher one. */
  resume(key: string, body: ResumeTurn): Promise<void>;
  answerApproval(
    key: string,
    callId: string,
    body: AnswerApproval
  ): Promise<void>;
  /** Choose a mode, model or other option of the agent of others that leads the conversation. */
  changeAgent(key: string, body: PatchAgent): Promise<void>;
  answerQuestion(
    key: string,
    callId: string,
    answer: readonly string[]
  ): Promise<void>;
  /** Go back to before a message, or undo a restore. */
  restore(key: string, body: RestoreSession): Promise<void>;
  /** Undo a turn's changes to notebooks and files. */
  undoTurn(key: string, turnId: string): Promise<void>;
  /** Answer the input prompt of running code. */
  answerInput(key: string, callId: string, text: string): Promise<void>;
  supplyResult(key: string, callId: string, body: SupplyResult): Promise<void>;
  editQueued(key: string, messageId: string, text: string): Promise<void>;
  removeQueued(key: string, messageId: string): Promise<void>;
  /** Start a turn with a queued message and those queued with it. */
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

  async changeAgent(key: string, body: PatchAgent): Promise<void> {
    const id = encodeURIComponent(this.idOf(key));
    await this.http.call('PATCH', `sessions/${id}/agent`, body);
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
