/**
 * The open conversations with what belongs to their tabs, remembered over a reload. Owned by `Conversations`; the pure
 * rules are in `tabs`, what is in the inputs in `tabState`.
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
  beginTab,
  closeTab,
  freshTabs,
  isEmpty,
  isSamePlace,
  openTab,
  withAnchor,
  withSession,
  type ITab,
  type ITabs
} from './tabs';

/** Closed tabs whose notes are kept. */
const ASIDE_LIMIT = 50;

/** The tabs, their notes, and the last choices made in any of them. */
export class OpenTabs {
  constructor(
    private readonly keeper: IStateStorage,
    newId: () => string
  ) {
    const saved = loadPersistedState(keeper);
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

  /** The model and mode chosen last, in whatever tab. */
  get lastChoice(): Readonly<{ model: string | null; mode: Mode | null }> {
    return this.last;
  }

  /** Where a session is open. */
  keyOf(sessionId: string): string | null {
    return this.all.find(tab => tab.sessionId === sessionId)?.key ?? null;
  }

  /** The session of a tab; null when it has none. */
  sessionId(key: string): string | null {
    return this.all.find(tab => tab.key === key)?.sessionId ?? null;
  }

  /** Where a thread will be that has not begun; its tab may be closed meanwhile. Null of any other tab. */
  anchorOf(key: string): Anchor | null {
    const tab = [...this.all, ...this.aside].find(each => each.key === key);
    return tab?.anchor ?? null;
  }

  /** The session that messages of a tab go to, which may be closed meanwhile; null when it has none. */
  addressee(key: string): string | null {
    const left = this.aside.find(tab => tab.key === key);
    return left?.sessionId ?? this.sessionId(key);
  }

  /** The session of a tab; throws when it has none. */
  readonly begun = (key: string): string => {
    const sessionId = this.sessionId(key);
    if (sessionId === null) {
      throw new Error('This conversation has not begun yet.');
    }
    return sessionId;
  };

  /** Change the tabs by one of the rules. */
  change(rule: (state: ITabs) => ITabs): void {
    this.state = rule(this.state);
    this.aside = this.aside.filter(({ key }) => !this.isOpen(key));
    this.announce();
  }

  /** Show an empty conversation: the one that is open, or that was closed with something written in it. */
  create(fresh: string): void {
    const left = this.leftAside(null);
    const empty = this.all.find(isEmpty);
    if (left !== null && empty !== undefined && !this.notes.has(empty.key)) {
      this.state = closeTab(this.state, empty.key, left);
    }
    this.change(state => addTab(state, left ?? fresh));
  }

  /** Show a session, with what was written in its tab when that was closed. */
  open(sessionId: string, fresh: string): void {
    const key = this.leftAside(sessionId) ?? fresh;
    this.change(state => openTab(state, key, sessionId));
  }

  /** Show a thread that has not begun, with what was written in its tab when that was closed. */
  beginThread(anchor: Anchor, fresh: string): void {
    const left = this.aside
      .filter(tab => tab.anchor && isSamePlace(tab.anchor, anchor))
      .at(-1);
    const spare = !this.notes.has(this.active.key);
    const key = left?.key ?? fresh;
    this.change(state => beginTab(state, key, anchor, spare));
  }

  /** Close a tab; what was written in it, or is `coming`, waits until its conversation is shown again. */
  close(key: string, fresh: string, coming = false): void {
    const tab = this.all.find(open => open.key === key);
    if (tab !== undefined && (coming || this.notes.has(key))) {
      const all = [...this.aside, tab];
      all.slice(0, -ASIDE_LIMIT).forEach(old => this.notes.drop(old.key));
      this.aside = all.slice(-ASIDE_LIMIT);
    } else {
      this.notes.drop(key);
    }
    this.state = closeTab(this.state, key, fresh);
    this.announce();
  }

  /** Give a tab without a session its own. */
  bind(key: string, sessionId: string): void {
    this.replace(tab => (tab.key === key ? withSession(tab, sessionId) : tab));
  }

  /** Let a thread that the server did not take be one that has not begun. */
  unbind(sessionId: string, anchor: Anchor): void {
    this.replace(tab =>
      tab.sessionId === sessionId ? withAnchor(tab, anchor) : tab
    );
  }

  /** Whether something was written in the closed tab of a session. */
  hasAside(sessionId: string): boolean {
    return this.leftAside(sessionId) !== null;
  }

  note(key: string, change: Partial<ITabState>): void {
    this.notes.change(key, change);
    this.announce();
  }

  /** Keep what the user types; nobody is told. */
  setDraft(key: string, draft: string): void {
    this.notes.change(key, { draft });
    this.save();
  }

  /** Keep the text of a sent message that is being edited; told when that begins and ends, not while the user types. */
  setEdit(key: string, messageId: string, text: string | null): void {
    const wasEdited = messageId in this.notes.get(key).edits;
    this.notes.edit(key, messageId, text);
    if (wasEdited === (text !== null)) {
      this.save();
    } else {
      this.announce();
    }
  }

  /** Note that the server has a message: a closed tab sees no log that would say so. */
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

  /** Put a message in the tab's outbox, or note what became of it. */
  putOutgoing(key: string, item: IPendingMessage): void {
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

  /** Write down what is to survive a reload. */
  save(): void {
    savePersistedState(this.keeper, {
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

  /** Put other tabs in the place of those there are, also of those that were closed meanwhile. */
  private replace(by: (tab: ITab) => ITab): void {
    this.aside = this.aside.map(by);
    this.change(({ tabs, active }) => ({ tabs: tabs.map(by), active }));
  }

  private isOpen(key: string): boolean {
    return this.all.some(tab => tab.key === key);
  }

  /** The closed tab of a session, or of a conversation that had not begun, in which something was written last. */
  private leftAside(sessionId: string | null): string | null {
    const fits = (tab: ITab): boolean =>
      sessionId === null ? isEmpty(tab) : tab.sessionId === sessionId;
    return this.aside.filter(fits).at(-1)?.key ?? null;
  }

  private state: ITabs;
  private aside: readonly ITab[];
  private last: { model: string | null; mode: Mode | null };
}
