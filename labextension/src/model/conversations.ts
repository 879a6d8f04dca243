/**
 * All conversations of this page: which are open, what is in their inputs, what can be asked of them. Made by the
 * conversations plugin; the chat panel and other surfaces talk to the agent through it.
 */

import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import { infoOf, type IHttpClient } from '../client/http';
import type { IPageSocket } from '../client/socket';
import type {
  DecideProposal,
  ErrorInfo,
  Event,
  ModelList,
  Resync,
  SendMessage,
  ServerFrame,
  Session,
  Status
} from '../wire/generated';
import { budgetOver, type IBudget } from './budget';
import { ConversationStore } from './conversation';
import type { Schedule } from './frames';
import type { IConversations, IMessage, Mode } from './interface';
import { recall, remember, type IKeeper, type IMemory } from './memory';
import { TabNotes } from './notes';
import { dropOutgoing, type IOutgoing } from './outbox';
import { SessionCommands } from './session-commands';
import { SessionsStore, sessionsIn } from './sessions';
import {
  activateTab,
  addTab,
  bindTab,
  closeTab,
  freshTabs,
  openTab,
  stepTab,
  type ITab,
  type ITabs
} from './tabs';

/** What the conversations are made with. */
export interface IConversationsOptions {
  http: IHttpClient;
  socket: IPageSocket;
  keeper: IKeeper;
  newId: () => string;
  schedule?: Schedule;
}

/** The conversations of this page. */
export class Conversations implements IConversations, IDisposable {
  constructor(private readonly options: IConversationsOptions) {
    this.history = new SessionsStore(options.http);
    this.history.changed.connect(this.announce, this);
    options.socket.eventsReceived.connect(this.onEvents, this);
    options.socket.resyncRequested.connect(this.onResync, this);
    options.socket.frameReceived.connect(this.onFrame, this);
    options.socket.opened.connect(this.onOpened, this);
    this.commands = new SessionCommands(options.http, this.sessionIdOf);
    this.budget = budgetOver(options.http);
    const saved = recall(options.keeper);
    this.notes = new TabNotes(saved);
    this.restore(saved);
  }

  readonly changed = new Signal<this, void>(this);
  readonly history: SessionsStore;
  readonly commands: SessionCommands;
  readonly budget: IBudget;

  get tabs(): readonly ITab[] {
    return this.state.tabs;
  }

  get active(): ITab {
    const { tabs, active } = this.state;
    const tab = tabs.find(({ key }) => key === active) ?? tabs[0];
    if (tab === undefined) {
      throw new Error('There is always an open conversation.');
    }
    return tab;
  }

  get models(): ModelList | null {
    return this.modelList;
  }

  get status(): Status | null {
    return this.serverStatus;
  }

  get error(): ErrorInfo | null {
    return this.failure;
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  async refresh(): Promise<void> {
    void this.history.search('');
    await this.askServer();
  }

  /** Read what the server can do, and what is wrong with it. */
  private async askServer(): Promise<void> {
    const { http } = this.options;
    try {
      [this.serverStatus, this.modelList] = await Promise.all([
        http.status(),
        http.models()
      ]);
      this.failure = null;
    } catch (error) {
      this.failure = infoOf(error);
    }
    this.announce();
  }

  store(key: string): ConversationStore | null {
    const sessionId = this.tab(key)?.sessionId ?? null;
    return sessionId === null ? null : this.storeOf(sessionId);
  }

  session(key: string): Session | null {
    const sessionId = this.tab(key)?.sessionId ?? null;
    const held = sessionId === null ? undefined : this.stores.get(sessionId);
    return (
      held?.view.session ??
      (sessionId === null ? null : (this.history.get(sessionId) ?? null))
    );
  }

  create(): void {
    this.setTabs(addTab(this.state, this.options.newId()));
  }

  open(sessionId: string): void {
    this.setTabs(openTab(this.state, this.options.newId(), sessionId));
  }

  close(key: string): void {
    const sessionId = this.tab(key)?.sessionId ?? null;
    this.notes.drop(key);
    this.setTabs(closeTab(this.state, key, this.options.newId()));
    if (sessionId !== null) {
      this.stores.get(sessionId)?.dispose();
      this.stores.delete(sessionId);
    }
  }

  activate(key: string): void {
    this.setTabs(activateTab(this.state, key));
  }

  step(by: number): void {
    this.setTabs(stepTab(this.state, by));
  }

  draft(key: string): string {
    return this.notes.get(key).draft;
  }

  setDraft(key: string, text: string): void {
    this.notes.change(key, { draft: text });
    this.save();
  }

  suggest(key: string, text: string): void {
    this.setDraft(key, text);
    this.announce();
  }

  model(key: string): string | null {
    return (
      this.notes.get(key).model ??
      this.session(key)?.model ??
      this.lastModel ??
      this.modelList?.default ??
      null
    );
  }

  setModel(key: string, model: string): void {
    this.lastModel = model;
    this.notes.change(key, { model });
    this.announce();
  }

  mode(key: string): Mode {
    return (
      this.notes.get(key).mode ??
      this.session(key)?.mode ??
      this.lastMode ??
      'ask'
    );
  }

  setMode(key: string, mode: Mode): void {
    this.lastMode = mode;
    this.notes.change(key, { mode });
    this.announce();
  }

  outbox(key: string): readonly IOutgoing[] {
    return this.notes.get(key).outbox;
  }

  async send(key: string, message: IMessage): Promise<void> {
    await this.deliver(key, {
      id: this.options.newId(),
      text: message.text,
      attachments: message.attachments ?? [],
      context: message.context ?? null,
      model: this.model(key),
      mode: this.mode(key)
    });
  }

  async sendAgain(key: string, messageId: string): Promise<void> {
    const found = this.outbox(key).find(({ body }) => body.id === messageId);
    if (found !== undefined) {
      await this.deliver(key, found.body);
    }
  }

  discard(key: string, messageId: string): void {
    const outbox = dropOutgoing(this.outbox(key), messageId);
    this.notes.change(key, { outbox });
    this.announce();
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
    const tab = this.tabs.find(open => open.sessionId === sessionId);
    if (tab !== undefined) {
      this.close(tab.key);
    }
    this.forget(sessionId);
  }

  async undelete(sessionId: string): Promise<void> {
    await this.options.http.undeleteSession(sessionId);
    this.deleted.delete(sessionId);
    void this.history.search('');
    await this.stores.get(sessionId)?.load();
    this.announce();
  }

  isDeleted(key: string): boolean {
    const sessionId = this.tab(key)?.sessionId ?? null;
    return sessionId !== null && this.deleted.has(sessionId);
  }

  dispose(): void {
    if (!this.disposed) {
      this.disposed = true;
      this.stores.forEach(store => store.dispose());
      Signal.clearData(this);
    }
  }

  private async deliver(key: string, body: SendMessage): Promise<void> {
    this.putOutgoing(key, { body, error: null });
    try {
      const sessionId = await this.bound(key);
      await this.options.http.sendMessage(sessionId, body);
    } catch (error) {
      this.putOutgoing(key, { body, error: infoOf(error) });
    }
  }

  private putOutgoing(key: string, item: IOutgoing): void {
    this.notes.put(key, item);
    this.announce();
  }

  /** The session of a tab, made now if it has none. */
  private async bound(key: string): Promise<string> {
    const sessionId = this.tab(key)?.sessionId ?? null;
    if (sessionId !== null) {
      return sessionId;
    }
    const making = this.making.get(key) ?? this.makeSession(key);
    this.making.set(key, making);
    try {
      return await making;
    } finally {
      this.making.delete(key);
    }
  }

  private async makeSession(key: string): Promise<string> {
    const session = await this.options.http.createSession({
      kind: 'chat',
      model: this.model(key),
      mode: this.mode(key)
    });
    this.history.receive([session]);
    this.setTabs(bindTab(this.state, key, session.id));
    return session.id;
  }

  private storeOf(sessionId: string): ConversationStore {
    const known = this.stores.get(sessionId);
    if (known !== undefined) {
      return known;
    }
    const { http, socket, schedule } = this.options;
    const made = new ConversationStore(sessionId, http, socket, schedule);
    this.stores.set(sessionId, made);
    made.changed.connect(this.onFolded, this);
    void made.load();
    return made;
  }

  private tab(key: string): ITab | undefined {
    return this.state.tabs.find(tab => tab.key === key);
  }

  private readonly sessionIdOf = (key: string): string => {
    const sessionId = this.tab(key)?.sessionId ?? null;
    if (sessionId === null) {
      throw new Error('This conversation has not begun yet.');
    }
    return sessionId;
  };

  /** What the log has is no longer on its way. */
  private readonly onFolded = ({
    sessionId,
    view
  }: ConversationStore): void => {
    const tab = this.tabs.find(open => open.sessionId === sessionId);
    if (tab !== undefined && this.notes.settle(tab.key, view)) {
      this.announce();
    }
  };

  private readonly onEvents = (
    _: IPageSocket,
    events: readonly Event[]
  ): void => {
    const bySession = new Map<string, Event[]>();
    for (const event of events) {
      const list = bySession.get(event.session_id);
      if (list === undefined) {
        bySession.set(event.session_id, [event]);
      } else {
        list.push(event);
      }
    }
    bySession.forEach((list, id) => this.stores.get(id)?.receive(list));
    const sessions = sessionsIn(events);
    sessions.forEach(({ id }) => this.deleted.delete(id)); // An update: somebody brought it back.
    this.history.receive(sessions.filter(({ kind }) => kind === 'chat'));
  };

  private readonly onResync = (_: IPageSocket, frame: Resync): void => {
    void this.stores.get(frame.session_id)?.load();
  };

  /** A conversation is gone, said to all pages or to one that asks to follow it; or its log is shorter here. */
  private readonly onFrame = (_: IPageSocket, frame: ServerFrame): void => {
    if (frame.type === 'session-delete') {
      this.forget(frame.session_id);
    } else if (frame.type === 'frame-error') {
      const sessionId = frame.error.details?.session_id;
      if (typeof sessionId === 'string') {
        this.onRefused(sessionId, frame.error);
      }
    }
  };

  private onRefused(sessionId: string, { code }: ErrorInfo): void {
    if (code === 'not_found') {
      this.forget(sessionId);
    } else if (code === 'stale') {
      void this.stores.get(sessionId)?.load();
    }
  }

  /** After a reconnect the server may be another one: what it can do is asked again. */
  private readonly onOpened = (): void => {
    if (this.serverStatus !== null || this.failure !== null) {
      void this.askServer();
    }
  };

  private forget(sessionId: string): void {
    this.deleted.add(sessionId);
    this.history.remove(sessionId);
  }

  private setTabs(state: ITabs): void {
    this.state = state;
    this.announce();
  }

  private readonly announce = (): void => {
    this.save();
    this.changed.emit();
  };

  private restore(saved: IMemory): void {
    const first = saved.tabs[0];
    this.state =
      first === undefined
        ? freshTabs(this.options.newId())
        : { tabs: saved.tabs, active: saved.active ?? first.key };
    this.lastModel = saved.model;
    this.lastMode = saved.mode;
  }

  private save(): void {
    remember(this.options.keeper, {
      ...this.notes.saved(),
      tabs: [...this.tabs],
      active: this.state.active,
      model: this.lastModel,
      mode: this.lastMode
    });
  }

  private state: ITabs = freshTabs('');
  private modelList: ModelList | null = null;
  private serverStatus: Status | null = null;
  private failure: ErrorInfo | null = null;
  private lastModel: string | null = null;
  private lastMode: Mode | null = null;
  private readonly notes: TabNotes;
  /** Sessions that were deleted while this page knew them. */
  private readonly deleted = new Set<string>();
  private readonly stores = new Map<string, ConversationStore>();
  private readonly making = new Map<string, Promise<string>>();
  private disposed = false;
}
