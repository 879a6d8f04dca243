/**
 * The conversation of an in-place edit: an ordinary session without tools, created with the first instruction and
 * stopped at the provider when the user cancels. Owned by `InlineEdit`.
 */

import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import { infoOf, type IHttpClient } from '../client/http';
import type { ConversationStore } from '../model/sessions/conversationStore';
import type { IConversations } from '../model/conversations/interface';
import type {
  AgentView,
  Conversation,
  ErrorInfo,
  SendMessage
} from '../wire/generated';

export interface IEditSessionOptions {
  readonly http: Pick<IHttpClient, 'createSession' | 'sendMessage' | 'cancel'>;
  readonly conversations: Pick<IConversations, 'watch' | 'unwatch'>;
  readonly newId: () => string;
  readonly model: () => string | null;
  /** The session to continue; a new one without it. */
  readonly continues?: string;
}

export type Question = Pick<SendMessage, 'text' | 'attachments' | 'context'>;

/** Progress of the answer to the last question. */
export type Answer =
  | { readonly state: 'none' }
  | {
      readonly state: 'coming';
      readonly text: string;
      /** The provider is asked again after a pause. */
      readonly retrying: boolean;
    }
  | { readonly state: 'whole'; readonly text: string }
  /** The turn waits for the user, for example at a budget limit. */
  | { readonly state: 'paused' }
  | { readonly state: 'failed'; readonly error: ErrorInfo };

export class EditSession implements IDisposable {
  constructor(private readonly options: IEditSessionOptions) {
    const { continues } = options;
    if (continues !== undefined) {
      this.session = continues;
      this.beginning = Promise.resolve(continues);
    }
  }

  /** Emitted when the answer changed. */
  readonly changed = new Signal<this, void>(this);

  get answer(): Answer {
    return this.current;
  }

  /** The session's id, once created. */
  get sessionId(): string | null {
    return this.session;
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  /** Send a question; the first one creates the session. Never rejects: see `answer`. */
  async ask(title: string, question: Question): Promise<void> {
    const { http, newId, model } = this.options;
    const messageId = newId();
    this.messageId = messageId;
    this.set({ state: 'coming', text: '', retrying: false });
    try {
      const session = await this.ensureSession(title);
      if (this.messageId === messageId) {
        this.follow(session);
        const body = { ...question, id: messageId, model: model(), mode: null };
        await http.sendMessage(session, body);
        await this.stopIfCancelled(messageId);
      }
    } catch (error) {
      if (this.messageId === messageId) {
        this.set({ state: 'failed', error: infoOf(error) });
      }
    }
  }

  /** Stop the answer, also at the provider. */
  async stop(): Promise<void> {
    const { session, current } = this;
    const wasComing = current.state === 'coming' || current.state === 'paused';
    this.messageId = null;
    this.set({ state: 'none' });
    if (wasComing && session !== null) {
      await this.cancel(session);
    }
  }

  dispose(): void {
    if (!this.disposed) {
      this.disposed = true;
      void this.stop();
      this.unfollow();
      Signal.clearData(this);
    }
  }

  /** The session's id; concurrent calls share one creation. */
  private async ensureSession(title: string): Promise<string> {
    this.beginning ??= this.createSession(title);
    try {
      this.session = await this.beginning;
      return this.session;
    } catch (error) {
      this.beginning = null;
      throw error;
    }
  }

  private async createSession(title: string): Promise<string> {
    const { http, model } = this.options;
    const { id } = await http.createSession({
      kind: 'chat',
      title,
      model: model(),
      mode: 'ask',
      tools: 'disabled',
      toolset: 'inline'
    });
    return id;
  }

  /** Stop the turn if the user cancelled while the question was being sent. */
  private async stopIfCancelled(asked: string): Promise<void> {
    if (this.messageId !== asked && this.session !== null) {
      await this.cancel(this.session);
    }
  }

  private async cancel(session: string): Promise<void> {
    try {
      await this.options.http.cancel(session);
    } catch (error) {
      console.warn('An answer nobody waits for was not stopped:', error);
    }
  }

  private follow(session: string): void {
    if (this.store === null && !this.disposed) {
      this.store = this.options.conversations.watch(session);
      this.store.changed.connect(this.read, this);
    }
  }

  private unfollow(): void {
    if (this.store !== null && this.session !== null) {
      this.store.changed.disconnect(this.read, this);
      this.options.conversations.unwatch(this.session);
      this.store = null;
    }
  }

  private readonly read = (): void => {
    if (this.store === null || this.messageId === null) {
      return;
    }
    if (this.store.error !== null) {
      this.set({ state: 'failed', error: this.store.error });
      return;
    }
    const answer = answerTo(this.store.view, this.messageId);
    if (answer !== null) {
      this.set(answer);
    }
  };

  private set(answer: Answer): void {
    this.current = answer;
    if (!this.disposed) {
      this.changed.emit();
    }
  }

  private store: ConversationStore | null = null;
  private beginning: Promise<string> | null = null;
  private session: string | null = null;
  /** The message being answered; null when none is. */
  private messageId: string | null = null;
  private current: Answer = { state: 'none' };
  private disposed = false;
}

/** Progress of the answer to a message; null while the log does not have the message. */
export function answerTo(
  { messages, turn }: Conversation,
  messageId: string
): Answer | null {
  const index = messages.findIndex(
    message => message.role === 'user' && message.message_id === messageId
  );
  if (index < 0) {
    return null;
  }
  const parts = messages
    .slice(index + 1)
    .filter((message): message is AgentView => message.role === 'agent')
    .flatMap(message => message.parts);
  const text = parts
    .flatMap(part => (part.type === 'text' ? [part.text] : []))
    .join('');
  const failed = parts.filter(part => part.type === 'error').at(-1);
  switch (turn?.state) {
    case 'ended':
      return turn.exit === 'final_response'
        ? { state: 'whole', text }
        : { state: 'failed', error: failed?.error ?? ended(parts) };
    case 'waiting':
    case 'interrupted':
      return { state: 'paused' };
    case 'running':
    case 'retrying':
    case undefined:
      return { state: 'coming', text, retrying: turn?.state === 'retrying' };
  }
}

/** The error of a turn that ended without an answer. */
function ended(parts: AgentView['parts']): ErrorInfo {
  const end = parts.filter(part => part.type === 'end').at(-1);
  return (
    end?.error ?? {
      code: end?.exit === 'cancelled' ? 'aborted' : 'internal',
      message: end?.summary ?? '',
      hint: null,
      retryable: true,
      details: null,
      provider: null,
      model: null,
      request_id: null
    }
  );
}
