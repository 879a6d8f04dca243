/**
 * Drafts: values the user entered that are not stored yet. They survive failed saves, switching sections, and changes
 * of other pages. Owned by the store; fields identify drafts by name.
 */

import { Signal } from '@lumino/signaling';

import { infoOf } from '../../client/http';
import type { ErrorInfo, Json } from '../../wire/generated';

/** One field's draft. */
export interface IDraft {
  readonly value: Json;
  /** The stored value when the user began; if it differs now, another page changed it. */
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

  /** How many drafts wait for the user rather than the server. */
  get unsavedCount(): number {
    return [...this.drafts.values()].filter(({ busy }) => !busy).length;
  }

  /** Set the value of a field; a stored value is no draft. */
  edit(name: string, value: Json, stored: Json): void {
    const { base, busy } = this.get(name) ?? { base: stored, busy: false };
    if (same(value, stored) && !busy) {
      this.drop(name);
    } else {
      this.put(name, { value, base, busy, error: null });
    }
  }

  /** Keep the draft after the user saw the newly stored value. */
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

  /** Save a draft; it is removed once stored, unless the user changed it during the request. */
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

  /** Save a choice, and any choice made during the request. */
  async saveChoice(
    name: string,
    store: (value: Json, base: Json) => Promise<unknown>
  ): Promise<void> {
    while (await this.save(name, store)) {
      // Another choice was made during the request, unless the draft is gone.
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

/** Whether two values are equal. */
export function same(one: Json, other: Json): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
