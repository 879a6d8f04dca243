/**
 * The open conversations with the state of their tabs, kept across reloads. Owned by `Conversations`; the pure rules
 * are in `tabs`, the inputs in `tabState`.
 */

import { Signal } from '@lumino/signaling';

import type { Anchor } from '../../wire/generated';
import type { Mode } from './interface';
import {
  loadPersistedState,
  savePersistedState,
  type IStateStorage
} from './persistedState';
import { TabStates, type ITabState } from './tabState';
import { removePendingMessage, type IPendingMessage } from '../sessions/outbox';
import {
  addTab,
  openThreadTab,
  closeTab,
  freshTabs,
  isEmpty,
  isSameAnchor,
  openTab,
  withAnchor,
  withSession,
  type ITab,
  type ITabs
} from './tabs';

/** Closed tabs whose state is kept. */
const CLOSED_LIMIT = 50;

/** The tabs, their state, and the last choice of model and mode in any of them. */
export class OpenTabs {
  constructor(
    private readonly storage: IStateStorage,
    newId: () => string
  ) {
    const saved = loadPersistedState(storage);
    const first = saved.tabs[0];
    this.notes = new TabStates(saved);
    this.state =
      first === undefined
        ? freshTabs(newId())
        : { tabs: saved.tabs, active: saved.active ?? first.key };
    this.last = { model: saved.model, mode: saved.mode };
    this.aside = saved.aside;
  }

  readonly changed = new Signal<this, void>(this);
  readonly notes: TabStates;

  get all(): readonly ITab[] {
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

  /** The last choice of model and mode in any tab. */
  get lastChoice(): Readonly<{ model: string | null; mode: Mode | null }> {
    return this.last;
  }

  /** The tab of a session. */
  keyOf(sessionId: string): string | null {
    return this.all.find(tab => tab.sessionId === sessionId)?.key ?? null;
  }

  /** The session of a tab; null when it has none. */
  sessionId(key: string): string | null {
    return this.all.find(tab => tab.key === key)?.sessionId ?? null;
  }

  /** The anchor of a thread not created yet, also after its tab was closed; null for other tabs. */
  anchorOf(key: string): Anchor | null {
    const tab = [...this.all, ...this.aside].find(each => each.key === key);
    return tab?.anchor ?? null;
  }

  /** The session that receives the messages of a tab, also after the tab was closed; null when it has none. */
  recipient(key: string): string | null {
    const left = this.aside.find(tab => tab.key === key);
    return left?.sessionId ?? this.sessionId(key);
  }

  /** The session of a tab; throws when it has none. */
  readonly requireSession = (key: string): string => {
    const sessionId = this.sessionId(key);
    if (sessionId === null) {
      throw new Error('This conversation has not begun yet.');
    }
    return sessionId;
  };

  /** Apply one of the tab rules. */
  change(rule: (state: ITabs) => ITabs): void {
    this.state = rule(this.state);
    this.aside = this.aside.filter(({ key }) => !this.isOpen(key));
    this.announce();
  }

  /** Show an empty conversation: an open one, or a closed one that has a draft. */
  create(fresh: string): void {
    const left = this.closedTabWithDraft(null);
    const empty = this.all.find(isEmpty);
    if (left !== null && empty !== undefined && !this.notes.has(empty.key)) {
      this.state = closeTab(this.state, empty.key, left);
    }
    this.change(state => addTab(state, left ?? fresh));
  }

  /** Show a session, with the draft of its closed tab. */
  open(sessionId: string, fresh: string): void {
    const key = this.closedTabWithDraft(sessionId) ?? fresh;
    this.change(state => openTab(state, key, sessionId));
  }

  /** Show a thread that is not created yet, with the draft of its closed tab. */
  openThread(anchor: Anchor, fresh: string): void {
    const left = this.aside
      .filter(tab => tab.anchor && isSameAnchor(tab.anchor, anchor))
      .at(-1);
    const spare = !this.notes.has(this.active.key);
    const key = left?.key ?? fresh;
    this.change(state => openThreadTab(state, key, anchor, spare));
  }

  /** Close a tab. Its draft, and attachments when `coming`, are kept for the next time the conversation is shown. */
  close(key: string, fresh: string, coming = false): void {
    const tab = this.all.find(open => open.key === key);
    if (tab !== undefined && (coming || this.notes.has(key))) {
      const all = [...this.aside, tab];
      all.slice(0, -CLOSED_LIMIT).forEach(old => this.notes.drop(old.key));
      this.aside = all.slice(-CLOSED_LIMIT);
    } else {
      this.notes.drop(key);
    }
    this.state = closeTab(this.state, key, fresh);
    this.announce();
  }

  /** Set the session of a tab. */
  bind(key: string, sessionId: string): void {
    this.replace(tab => (tab.key === key ? withSession(tab, sessionId) : tab));
  }

  /** Turn a thread that the server refused back into one not created yet. */
  unbind(sessionId: string, anchor: Anchor): void {
    this.replace(tab =>
      tab.sessionId === sessionId ? withAnchor(tab, anchor) : tab
    );
  }

  /** Whether the closed tab of a session has a draft. */
  hasClosedDraft(sessionId: string): boolean {
    return this.closedTabWithDraft(sessionId) !== null;
  }

  note(key: string, change: Partial<ITabState>): void {
    this.notes.change(key, change);
    this.announce();
  }

  /** Store the text in the input; emits nothing. */
  setDraft(key: string, draft: string): void {
    this.notes.change(key, { draft });
    this.save();
  }

  /** Store the edited text of a sent message. Emits when editing starts or ends, not for each change. */
  setEdit(key: string, messageId: string, text: string | null): void {
    const wasEdited = messageId in this.notes.get(key).edits;
    this.notes.edit(key, messageId, text);
    if (wasEdited === (text !== null)) {
      this.save();
    } else {
      this.announce();
    }
  }

  /** Note that the server accepted a message; a closed tab follows no log. */
  accepted(key: string, messageId: string): void {
    if (!this.isOpen(key)) {
      const outbox = removePendingMessage(
        this.notes.get(key).outbox,
        messageId
      );
      this.notes.change(key, { outbox });
      if (!this.notes.has(key)) {
        this.notes.drop(key);
        this.aside = this.aside.filter(tab => tab.key !== key);
      }
      this.announce();
    }
  }

  /** Add a message to the tab's outbox, or update its state. */
  putPending(key: string, item: IPendingMessage): void {
    this.notes.put(key, item);
    this.announce();
  }

  setModel(key: string, model: string): void {
    this.last = { ...this.last, model };
    this.note(key, { model });
  }

  setMode(key: string, mode: Mode): void {
    this.last = { ...this.last, mode };
    this.note(key, { mode });
  }

  /** Save what survives a reload. */
  save(): void {
    savePersistedState(this.storage, {
      ...this.notes.saved(),
      ...this.last,
      tabs: [...this.all],
      aside: [...this.aside],
      active: this.state.active
    });
  }

  private announce(): void {
    this.save();
    this.changed.emit();
  }

  /** Replace tabs, closed ones included. */
  private replace(by: (tab: ITab) => ITab): void {
    this.aside = this.aside.map(by);
    this.change(({ tabs, active }) => ({ tabs: tabs.map(by), active }));
  }

  private isOpen(key: string): boolean {
    return this.all.some(tab => tab.key === key);
  }

  /** The last closed tab with a draft, of a session or of a conversation not created yet. */
  private closedTabWithDraft(sessionId: string | null): string | null {
    const fits = (tab: ITab): boolean =>
      sessionId === null ? isEmpty(tab) : tab.sessionId === sessionId;
    return this.aside.filter(fits).at(-1)?.key ?? null;
  }

  private state: ITabs;
  private aside: readonly ITab[];
  private last: { model: string | null; mode: Mode | null };
}
