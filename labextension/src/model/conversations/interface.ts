/** The interface of the conversations for other parts of the page. Implemented by `Conversations`. */

import type { ISignal } from '@lumino/signaling';

import type {
  Anchor,
  Attachment,
  DecideProposal,
  ErrorInfo,
  ModelList,
  Session,
  Status
} from '../../wire/generated';
import type { ExportFormat } from '../../client/http';
import type { AttachmentUploads } from './attachmentUploads';
import type { IAwayReportState } from '../sessions/awayReport';
import type { IBudget } from '../sessions/budget';
import type { ConversationStore } from '../sessions/conversationStore';
import type { IPendingMessage } from '../sessions/outbox';
import type { ISessionCommands } from '../sessions/sessionCommands';
import type { SessionsStore } from '../sessions/sessionHistory';
import type { IMessage } from './message';
import type { ITab } from './tabs';
import type { ThreadsStore } from '../sessions/threadSessions';

export type Mode = Session['mode'];

/** A message of a conversation. */
export interface IMessageTarget {
  readonly sessionId: string;
  readonly messageId: string;
}

/** The conversations of this page, as other surfaces see them. */
export interface IConversations {
  /** Emitted when tabs, sessions, models or outboxes changed; not for streamed text. */
  readonly changed: ISignal<IConversations, void>;
  /** Emitted when a conversation is brought to the front, so that lists covering it close. */
  readonly revealed: ISignal<IConversations, void>;
  readonly tabs: readonly ITab[];
  readonly active: ITab;
  readonly history: SessionsStore;
  readonly threads: ThreadsStore;
  /** Commands for one conversation, except sending messages. */
  readonly commands: ISessionCommands;
  readonly budget: IBudget;
  readonly models: ModelList | null;
  readonly status: Status | null;
  /** Why models and status could not be read. */
  readonly error: ErrorInfo | null;
  /** Read models, status and history. Called when the panel is first shown. */
  refresh(): Promise<void>;
  store(key: string): ConversationStore | null;
  /** Follow a conversation even without a tab. One watcher at a time. */
  watch(sessionId: string): ConversationStore;
  unwatch(sessionId: string): void;
  session(key: string): Session | null;
  create(): void;
  /** Open a conversation, at one of the user's messages if it is named. */
  open(sessionId: string, messageId?: string | null): void;
  /** The message to show of the opened conversation; who shows it sets this to null. */
  target: IMessageTarget | null;
  /** Open a thread at an anchor. It is created on the server with its first message. */
  openThread(anchor: Anchor): void;
  /** The last logged anchor of a tab's thread, also of one not created yet; null for other conversations. */
  anchor(key: string): Anchor | null;
  /** Close a tab; its draft returns when the conversation is shown again. */
  close(key: string): void;
  /** Whether the closed tab of a conversation holds a draft, attachments or an unsent message. */
  hasUnsent(sessionId: string): boolean;
  activate(key: string): void;
  step(by: number): void;
  /** Move a tab by `by` positions. */
  shift(key: string, by: number): void;
  draft(key: string): string;
  /** Store the text in the input. */
  setDraft(key: string, text: string): void;
  /** The edited text of a sent message or proposal; null when it is not being edited. */
  edit(key: string, messageId: string): string | null;
  /** Start editing or update the text; null stops editing. */
  setEdit(key: string, messageId: string, text: string | null): void;
  /** Attachments of the next message. */
  attachments(key: string): readonly Attachment[];
  setAttachments(key: string, attachments: readonly Attachment[]): void;
  /** Add an attachment; duplicates are ignored. */
  attach(key: string, attachment: Attachment): void;
  /** What happened while the user had no page connected. */
  readonly awayReport: IAwayReportState;
  /** Pending attachments of the next message. */
  readonly uploads: AttachmentUploads;
  /** Return the session of a tab, creating it when there is none. */
  ensureSession(key: string): Promise<string>;
  /** Put text into the input for the user to change and send. */
  suggest(key: string, text: string): void;
  model(key: string): string | null;
  /** The model id sent with messages; null while only a fallback could answer, so that the server decides. */
  modelToSend(key: string): string | null;
  setModel(key: string, model: string): void;
  mode(key: string): Mode;
  setMode(key: string, mode: Mode): void;
  outbox(key: string): readonly IPendingMessage[];
  send(key: string, message: IMessage): Promise<void>;
  retrySend(key: string, messageId: string): Promise<void>;
  discard(key: string, messageId: string): void;
  decide(proposalId: string, decision: DecideProposal): Promise<void>;
  rename(sessionId: string, title: string): Promise<void>;
  remove(sessionId: string): Promise<void>;
  /** Copy a conversation up to an event, by default to its last complete one, and show the copy. */
  fork(sessionId: string, seq?: number): Promise<void>;
  /** The whole conversation as a file. */
  exportAs(sessionId: string, format: ExportFormat): Promise<Blob>;
  /** Restore a deleted conversation. */
  undelete(sessionId: string): Promise<void>;
  /** Whether a conversation was deleted, in any page. */
  isDeleted(key: string): boolean;
}
