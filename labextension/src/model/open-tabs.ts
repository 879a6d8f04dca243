/**
 * The open conversations with what belongs to their tabs, remembered over a reload. Owned by `Conversations`; the pure
 * rules are in `tabs`, what is in the inputs in `notes`.
 */

import { Signal } from '@lumino/signaling';

import type { Mode } from './interface';
import { recall, remember, type IKeeper } from './memory';
import { TabNotes, type INotes } from './notes';
import type { IOutgoing } from './outbox';
import { freshTabs, type ITab, type ITabs } from './tabs';

/** The tabs, their notes, and the last choices made in any of them. */
export class OpenTabs {
  constructor(
    private readonly keeper: IKeeper,
    newId: () => string
  ) {
    const saved = recall(keeper);
    const first = saved.tabs[0];
    this.notes = new TabNotes(saved);
    this.state =
      first === undefined
        ? freshTabs(newId())
        : { tabs: saved.tabs, active: saved.active ?? first.key };
    this.last = { model: saved.model, mode: saved.mode };
  }

  readonly changed = new Signal<this, void>(this);
  readonly notes: TabNotes;

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
    this.announce();
  }

  note(key: string, change: Partial<INotes>): void {
    this.notes.change(key, change);
    this.announce();
  }

  /** Keep what the user types; nobody is told. */
  setDraft(key: string, draft: string): void {
    this.notes.change(key, { draft });
    this.save();
  }

  /** Put a message in the tab's outbox, or note what became of it. */
  putOutgoing(key: string, item: IOutgoing): void {
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
    remember(this.keeper, {
      ...this.notes.saved(),
      ...this.last,
      tabs: [...this.all],
      active: this.state.active
    });
  }

  private announce(): void {
    this.save();
    this.changed.emit();
  }

  private state: ITabs;
  private last: { model: string | null; mode: Mode | null };
}
