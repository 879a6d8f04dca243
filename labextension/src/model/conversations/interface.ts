/** What other parts of the page may ask of the conversations; `Conversations` implements it. */

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

/** The conversations of this page, as other surfaces see them. */
export interface IConversations {
  /** Emitted when tabs, sessions, models or what is being sent changed; not with streamed text. */
  readonly changed: ISignal<IConversations, void>;
  /** Emitted when a conversation was put in front: what lies over it goes. */
  readonly revealed: ISignal<IConversations, void>;
  readonly tabs: readonly ITab[];
  readonly active: ITab;
  readonly history: SessionsStore;
  readonly threads: ThreadsStore;
  /** What the user may do in one conversation beside sending messages. */
  readonly commands: ISessionCommands;
  readonly budget: IBudget;
  readonly models: ModelList | null;
  readonly status: Status | null;
  /** Why models and status could not be read. */
  readonly error: ErrorInfo | null;
  /** Read models, status and history; done when the panel is first shown. */
  refresh(): Promise<void>;
  store(key: string): ConversationStore | null;
  /** Follow one conversation whether or not it is open in a tab; one watcher at a time. */
  watch(sessionId: string): ConversationStore;
  unwatch(sessionId: string): void;
  session(key: string): Session | null;
  create(): void;
  open(sessionId: string): void;
  /** Show a thread at a place; it begins, for others too, with its first message. */
  beginThread(anchor: Anchor): void;
  /** The place of a tab's thread, begun or not, as it was logged last; null of other conversations. */
  anchor(key: string): Anchor | null;
  /** Close a tab; what was written in it is there again when the conversation is shown again. */
  close(key: string): void;
  /** Whether something waits in the closed tab of a conversation: a draft, attachments, an unsent message. */
  hasUnsent(sessionId: string): boolean;
  activate(key: string): void;
  step(by: number): void;
  /** Put a tab `by` places further on. */
  shift(key: string, by: number): void;
  draft(key: string): string;
  /** Keep what the user types. */
  setDraft(key: string, text: string): void;
  /** The new text of a sent message, or of a proposal, while it is being edited; null when it is not. */
  edit(key: string, messageId: string): string | null;
  /** Begin to edit one, keep what is typed, or leave it with null. */
  setEdit(key: string, messageId: string, text: string | null): void;
  /** What goes with the next message beside the situation. */
  attachments(key: string): readonly Attachment[];
  setAttachments(key: string, attachments: readonly Attachment[]): void;
  /** Add one; the same thing is not added twice. */
  attach(key: string, attachment: Attachment): void;
  /** What happened while the person had no page connected. */
  readonly away: IAwayReportState;
  /** What is on its way into the next message, which waits for it. */
  readonly attaching: AttachmentUploads;
  /** The session of a tab, made now if it has none. */
  begin(key: string): Promise<string>;
  /** Put text into the input for the user to change and send. */
  suggest(key: string, text: string): void;
  model(key: string): string | null;
  /** The model that messages name: none while only a stand-in could answer, so that the server decides. */
  modelToSend(key: string): string | null;
  setModel(key: string, model: string): void;
  mode(key: string): Mode;
  setMode(key: string, mode: Mode): void;
  outbox(key: string): readonly IPendingMessage[];
  send(key: string, message: IMessage): Promise<void>;
  sendAgain(key: string, messageId: string): Promise<void>;
  discard(key: string, messageId: string): void;
  decide(proposalId: string, decision: DecideProposal): Promise<void>;
  rename(sessionId: string, title: string): Promise<void>;
  remove(sessionId: string): Promise<void>;
  /** Copy a conversation up to an event, or as far as it is settled, and show the copy. */
  fork(sessionId: string, seq?: number): Promise<void>;
  /** The whole conversation as a file. */
  exportAs(sessionId: string, format: ExportFormat): Promise<Blob>;
  /** Bring back a conversation that was deleted. */
  undelete(sessionId: string): Promise<void>;
  /** Whether a conversation was deleted, in whatever page. */
  isDeleted(key: string): boolean;
}
