/**
 * All conversations of this page: open tabs, inputs, commands. Created by the conversations plugin; the chat panel and
 * other surfaces use the agent through it.
 */

import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import type {
  Anchor,
  Attachment,
  DecideProposal,
  ErrorInfo,
  ModelList,
  ServerFrame,
  Session,
  Status
} from '../../wire/generated';
import type { ExportFormat } from '../../client/http';
import { AttachmentUploads } from './attachmentUploads';
import { AwayReportStore } from '../sessions/awayReport';
import { budgetClient, type IBudget } from '../sessions/budget';
import type { ConversationStore } from '../sessions/conversationStore';
import { MessageSender } from './messageSender';
import {
  SessionSubscriptions,
  type ISessionSubscriptionOptions
} from '../sessions/sessionSubscriptions';
import type { IConversations, IMessageTarget, Mode } from './interface';
import type { IMessage } from './message';
import type { IStateStorage } from './persistedState';
import { OpenTabs } from './openTabs';
import { removePendingMessage, type IPendingMessage } from '../sessions/outbox';
import { ServerStatus } from '../sessions/serverStatus';
import { SessionCommands } from '../sessions/sessionCommands';
import { SessionsStore } from '../sessions/sessionHistory';
import { activateTab, shiftTab, stepTab, type ITab } from './tabs';
import { ThreadsStore } from '../sessions/threadSessions';

/** Dependencies and settings of `Conversations`. */
export interface IConversationsOptions extends ISessionSubscriptionOptions {
  storage: IStateStorage;
  newId: () => string;
}

/** The conversations of this page. */
export class Conversations implements IConversations, IDisposable {
  constructor(private readonly options: IConversationsOptions) {
    const { http, socket, storage, newId } = options;
    this.history = new SessionsStore(http);
    this.threads = new ThreadsStore(http, this.history);
    this.opened = new OpenTabs(storage, newId);
    this.uploads = new AttachmentUploads({
      attach: (key, attachment) => this.attach(key, attachment),
      send: this.sendWaiting
    });
    this.logs = new SessionSubscriptions(options, this.history);
    this.server = new ServerStatus(http);
    this.delivery = new MessageSender(options, this.opened, this.makeSession);
    this.commands = new SessionCommands(http, this.opened.requireSession);
    this.budget = budgetClient(http);
    this.awayReport = new AwayReportStore(http, socket.opened);
    this.awayReport.returned.connect((_, { session_id }) =>
      this.open(session_id)
    );
    this.awayReport.changed.connect(this.announce, this);
    this.history.changed.connect(this.announce, this);
    this.threads.changed.connect(this.announce, this);
    this.opened.changed.connect(this.announce, this);
    this.uploads.changed.connect(this.announce, this);
    this.server.changed.connect(this.announce, this);
    this.logs.folded.connect(this.onFolded, this);
    socket.opened.connect(this.onOpened, this);
    socket.frameReceived.connect(this.onFrame, this);
  }

  readonly changed = new Signal<this, void>(this);
  readonly revealed = new Signal<this, void>(this);
  target: IMessageTarget | null = null;
  readonly history: SessionsStore;
  readonly threads: ThreadsStore;
  readonly commands: SessionCommands;
  readonly budget: IBudget;
  readonly uploads: AttachmentUploads;
  readonly awayReport: AwayReportStore;

  get tabs(): readonly ITab[] {
    return this.opened.all;
  }

  get active(): ITab {
    return this.opened.active;
  }

  get models(): ModelList | null {
    return this.server.models;
  }

  get status(): Status | null {
    return this.server.status;
  }

  get error(): ErrorInfo | null {
    return this.server.error;
  }

  get isDisposed(): boolean {
    return this.logs.isDisposed;
  }

  async refresh(): Promise<void> {
    void this.history.refresh();
    await this.server.load();
  }

  store(key: string): ConversationStore | null {
    const sessionId = this.opened.sessionId(key);
    return sessionId === null ? null : this.logs.follow(sessionId);
  }

  watch(sessionId: string): ConversationStore {
    this.logs.watch(sessionId, true);
    return this.logs.follow(sessionId);
  }

  unwatch(sessionId: string): void {
    this.logs.watch(sessionId, false);
    if (this.opened.keyOf(sessionId) === null) {
      this.logs.unfollow(sessionId);
    }
  }

  session(key: string): Session | null {
    const sessionId = this.opened.sessionId(key);
    if (sessionId === null) {
      return null;
    }
    const held = this.logs.get(sessionId);
    return held?.view.session ?? this.history.get(sessionId) ?? null;
  }

  create(): void {
    this.opened.create(this.options.newId());
  }

  open(sessionId: string, messageId: string | null = null): void {
    this.target = messageId === null ? null : { sessionId, messageId };
    this.opened.open(sessionId, this.options.newId());
    this.revealed.emit();
  }

  openThread(anchor: Anchor): void {
    this.opened.openThread(anchor, this.options.newId());
    this.revealed.emit();
  }

  anchor(key: string): Anchor | null {
    const tab = this.tabs.find(open => open.key === key);
    return tab?.anchor ?? this.session(key)?.anchor ?? null;
  }

  close(key: string): void {
    const sessionId = this.opened.sessionId(key);
    const coming = this.uploads.pending(key).length > 0;
    this.opened.close(key, this.options.newId(), coming);
    if (sessionId !== null) {
      this.logs.unfollow(sessionId);
    }
  }

  hasUnsent(sessionId: string): boolean {
    return this.opened.hasClosedDraft(sessionId);
  }

  activate(key: string): void {
    this.opened.change(state => activateTab(state, key));
  }

  shift(key: string, by: number): void {
    this.opened.change(state => shiftTab(state, key, by));
  }

  step(by: number): void {
    this.opened.change(state => stepTab(state, by));
  }

  draft(key: string): string {
    return this.opened.notes.get(key).draft;
  }

  setDraft(key: string, text: string): void {
    this.uploads.cancelSend(key); // The user is still writing.
    this.opened.setDraft(key, text);
  }

  edit(key: string, messageId: string): string | null {
    return this.opened.notes.get(key).edits[messageId] ?? null;
  }

  setEdit(key: string, messageId: string, text: string | null): void {
    this.opened.setEdit(key, messageId, text);
  }

  attachments(key: string): readonly Attachment[] {
    return this.opened.notes.get(key).attachments;
  }

  setAttachments(key: string, attachments: readonly Attachment[]): void {
    this.opened.note(key, { attachments });
  }

  attach(key: string, attachment: Attachment): void {
    const present = this.attachments(key);
    const wanted = JSON.stringify(attachment);
    if (!present.some(other => JSON.stringify(other) === wanted)) {
      this.setAttachments(key, [...present, attachment]);
    }
  }

  ensureSession(key: string): Promise<string> {
    return this.delivery.ensureSession(key);
  }

  suggest(key: string, text: string): void {
    this.uploads.cancelSend(key);
    this.opened.note(key, { draft: text });
  }

  model(key: string): string | null {
    return this.chosenModel(key) ?? this.models?.default ?? null;
  }

  modelToSend(key: string): string | null {
    const { models } = this;
    const isStandIn = models?.default_is_stand_in === true;
    return (
      this.chosenModel(key) ?? (isStandIn ? null : (models?.default ?? null))
    );
  }

  setModel(key: string, model: string): void {
    this.opened.setModel(key, model);
  }

  mode(key: string): Mode {
    return (
      this.opened.notes.get(key).mode ??
      this.session(key)?.mode ??
      this.opened.lastChoice.mode ??
      'ask'
    );
  }

  setMode(key: string, mode: Mode): void {
    this.opened.setMode(key, mode);
  }

  outbox(key: string): readonly IPendingMessage[] {
    return this.opened.notes.get(key).outbox;
  }

  async send(key: string, message: IMessage): Promise<void> {
    if (this.awayReport.report?.session_id === this.opened.sessionId(key)) {
      this.awayReport.dismiss();
    }
    await this.delivery.send(key, {
      id: this.options.newId(),
      text: message.text,
      attachments: message.attachments ?? [],
      context: message.context ?? null,
      model: this.modelToSend(key),
      mode: this.mode(key),
      replaces: message.replaces ?? null
    });
  }

  async retrySend(key: string, messageId: string): Promise<void> {
    const found = this.outbox(key).find(({ body }) => body.id === messageId);
    if (found !== undefined) {
      await this.delivery.send(key, found.body);
    }
  }

  discard(key: string, messageId: string): void {
    const outbox = removePendingMessage(this.outbox(key), messageId);
    this.opened.note(key, { outbox });
  }

  async decide(proposalId: string, decision: DecideProposal): Promise<void> {
    await this.options.http.decideProposal(proposalId, decision);
  }

  async rename(sessionId: string, title: string): Promise<void> {
    const { http } = this.options;
    this.history.receive([await http.patchSession(sessionId, { title })]);
  }

  async remove(sessionId: string): Promise<void> {
    await this.options.http.deleteSession(sessionId);
    const key = this.opened.keyOf(sessionId);
    if (key !== null) {
      this.close(key);
    }
    this.logs.markDeleted(sessionId);
  }

  async fork(sessionId: string, seq?: number): Promise<void> {
    const body = { seq: seq ?? null };
    const copy = await this.options.http.forkSession(sessionId, body);
    this.history.receive([copy]);
    this.open(copy.id);
  }

  async exportAs(sessionId: string, format: ExportFormat): Promise<Blob> {
    return this.options.http.exportSession(sessionId, format);
  }

  async undelete(sessionId: string): Promise<void> {
    await this.options.http.undeleteSession(sessionId);
    await this.logs.restore(sessionId);
    this.announce();
  }

  isDeleted(key: string): boolean {
    const sessionId = this.opened.sessionId(key);
    return sessionId !== null && this.logs.isDeleted(sessionId);
  }

  dispose(): void {
    if (!this.isDisposed) {
      this.logs.dispose();
      Signal.clearData(this);
    }
  }

  /** The model chosen in this tab or for its conversation; null for the server's default. */
  private chosenModel(key: string): string | null {
    const { models } = this;
    const last = this.opened.lastChoice.model;
    const isGone =
      models?.models.find(({ id }) => id === last)?.available === false;
    return (
      this.opened.notes.get(key).model ??
      this.session(key)?.model ??
      (models?.default_set === true || isGone ? null : last)
    );
  }

  private readonly makeSession = async (key: string): Promise<Session> => {
    const anchor = this.anchor(key);
    const session = await this.options.http.createSession({
      ...(anchor === null ? { kind: 'chat' } : { kind: 'task', anchor }),
      model: this.modelToSend(key),
      mode: this.mode(key)
    });
    this.history.receive([session]);
    return session;
  };

  /** Send a message whose attachments are ready; until now it was in the input. */
  private readonly sendWaiting = (key: string, message: IMessage): void => {
    const attachments = [...this.attachments(key)];
    this.opened.note(key, { draft: '', attachments: [] });
    void this.send(key, { ...message, attachments });
  };

  /** Remove messages that the log contains from the outbox. */
  private readonly onFolded = (
    _: SessionSubscriptions,
    { sessionId, view }: ConversationStore
  ): void => {
    const key = this.opened.keyOf(sessionId);
    if (key !== null && this.opened.notes.settle(key, view)) {
      this.opened.save();
      this.announce();
    }
  };

  private readonly onOpened = (): void => {
    void this.threads.reread();
    void this.server.reload();
  };

  /** Keys and preferences determine the available models and their order. */
  private readonly onFrame = (_: unknown, frame: ServerFrame): void => {
    const part = frame.type === 'settings-update' ? frame.part : 'search';
    if (part !== 'budget' && part !== 'search') {
      void this.server.reload();
    }
  };

  private readonly announce = (): void => {
    this.changed.emit();
  };

  private readonly opened: OpenTabs;
  private readonly logs: SessionSubscriptions;
  private readonly server: ServerStatus;
  private readonly delivery: MessageSender;
}
