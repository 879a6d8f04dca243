/**
 * What the user has typed or chosen and the server has not stored: it outlives a failed save, a look at another
 * section and news from another page. Owned by the store; a field knows its draft by a name.
 */

import { Signal } from '@lumino/signaling';

import { infoOf } from '../../client/http';
import type { ErrorInfo, Json } from '../../wire/generated';

/** One field's draft. */
export interface IDraft {
  readonly value: Json;
  /** What was stored when the user began: another value by now comes from another page. */
  readonly base: Json;
  readonly busy: boolean;
  /** Why it could not be stored. */
  readonly error: ErrorInfo | null;
}

/** The drafts of the page, by name. */
export class Drafts {
  readonly changed = new Signal<this, void>(this);

  get(name: string): IDraft | null {
    return this.drafts.get(name) ?? null;
  }

  /** Names of all drafts. */
  get names(): readonly string[] {
    return [...this.drafts.keys()];
  }

  /** How many drafts wait for the user, and not for the server. */
  get waiting(): number {
    return [...this.drafts.values()].filter(({ busy }) => !busy).length;
  }

  /** Note what the field holds now; what is stored already is no draft. */
  edit(name: string, value: Json, stored: Json): void {
    const { base, busy } = this.get(name) ?? { base: stored, busy: false };
    if (same(value, stored) && !busy) {
      this.drop(name);
    } else {
      this.put(name, { value, base, busy, error: null });
    }
  }

  /** The user has seen what is stored now, and keeps the draft. */
  rebase(name: string, stored: Json): void {
    const draft = this.get(name);
    if (draft !== null) {
      this.put(name, { ...draft, base: stored, error: null });
    }
  }

  drop(name: string): void {
    if (this.drafts.delete(name)) {
      this.changed.emit();
    }
  }

  /** Have the draft stored; it goes when it is, unless the user typed on meanwhile. */
  async save(
    name: string,
    store: (value: Json, base: Json) => Promise<unknown>
  ): Promise<boolean> {
    const draft = this.get(name);
    if (draft === null || draft.busy) {
      return false;
    }
    const { value, base } = draft;
    this.put(name, { ...draft, busy: true, error: null });
    try {
      await store(value, base);
      this.stored(name, value);
      return true;
    } catch (error) {
      const now = this.get(name) ?? draft;
      this.put(name, { ...now, busy: false, error: infoOf(error) });
      return false;
    }
  }

  /** Have stored what was chosen, and what is chosen while that goes on: nothing but the choice says what is wanted. */
  async saveChoice(
    name: string,
    store: (value: Json, base: Json) => Promise<unknown>
  ): Promise<void> {
    while (await this.save(name, store)) {
      // Another choice was made meanwhile, unless the draft is gone.
    }
  }

  private stored(name: string, value: Json): void {
    const now = this.get(name);
    if (now === null || same(now.value, value)) {
      this.drop(name);
    } else {
      this.put(name, { ...now, base: value, busy: false });
    }
  }

  private put(name: string, draft: IDraft): void {
    this.drafts.set(name, draft);
    this.changed.emit();
  }

  private readonly drafts = new Map<string, IDraft>();
}

/** Whether two values say the same. */
export function same(one: Json, other: Json): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
