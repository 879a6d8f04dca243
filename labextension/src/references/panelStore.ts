/** State of the References panel: what is searched, added and checked. Held by the controller. */

import { Signal } from '@lumino/signaling';

import { infoOf } from '../client/http';
import type {
  AddedReference,
  ErrorInfo,
  Reference,
  ReferenceCheck,
  ReferenceList
} from '../wire/generated';
import type { ReferenceLibrary } from './library';
import { matching } from './matching';

const SHOWN = 100;

/** The routes of the panel. */
export interface IReferenceApi {
  readonly add: (query: string, isFile: boolean) => Promise<AddedReference>;
  readonly check: (path: string | null) => Promise<ReferenceCheck>;
  readonly remove: (reference: Reference) => Promise<void>;
}

/** What the panel shows. */
export interface IPanelState {
  readonly query: string;
  readonly active: number;
  /** The references found; at most `most`. */
  readonly found: readonly Reference[];
  readonly total: number;
  readonly list: ReferenceList | null;
  readonly failure: ErrorInfo | null;
  readonly busy: 'adding' | 'checking' | null;
  /** The outcome of the last addition. */
  readonly added: AddedReference | null;
  readonly check: ReferenceCheck | null;
}

export class PanelStore {
  constructor(
    private readonly library: ReferenceLibrary,
    private readonly api: IReferenceApi
  ) {
    library.changed.connect(() => this.find());
    void library.load().then(() => this.find());
  }

  readonly changed = new Signal<this, void>(this);

  get state(): IPanelState {
    return this.current;
  }

  type(query: string): void {
    this.set({ query, active: 0 });
    this.most = SHOWN;
    this.find();
  }

  showMore(): void {
    this.most += SHOWN;
    this.find();
  }

  move(by: number): void {
    const last = this.current.found.length - 1;
    this.point(Math.min(Math.max(this.current.active + by, 0), last));
  }

  point(active: number): void {
    this.set({ active });
  }

  /** Add what was typed, pasted or dropped. */
  async add(query: string, isFile = false): Promise<void> {
    await this.during('adding', async () => {
      const added = await this.api.add(query, isFile);
      this.set({ added });
      if (added.reference !== null) {
        await this.library.refresh();
        this.type(added.reference.key);
      }
    });
  }

  async check(path: string | null): Promise<void> {
    await this.during('checking', async () => {
      this.set({ check: await this.api.check(path) });
    });
  }

  async remove(reference: Reference): Promise<void> {
    await this.during(null, async () => {
      await this.api.remove(reference);
      await this.library.refresh();
    });
  }

  async refresh(): Promise<void> {
    await this.library.refresh();
  }

  /** Close the report of a check, the note about an addition, or an error. */
  dismiss(): void {
    this.set({ check: null, added: null, failure: null });
  }

  private async during(
    busy: IPanelState['busy'],
    act: () => Promise<void>
  ): Promise<void> {
    this.set({ busy, failure: null, added: null });
    try {
      await act();
    } catch (error) {
      this.set({ failure: infoOf(error) });
    } finally {
      this.set({ busy: null });
    }
  }

  private find(): void {
    const { error, list, references } = this.library;
    const all = matching(references, this.current.query, references.length);
    const found = all.slice(0, this.most);
    const active = Math.min(this.current.active, Math.max(found.length - 1, 0));
    this.set({
      ...{ active, found, list, total: all.length },
      ...(error === this.listError ? {} : { failure: error })
    });
    this.listError = error;
  }

  private set(part: Partial<IPanelState>): void {
    this.current = { ...this.current, ...part };
    this.changed.emit();
  }

  private current: IPanelState = {
    query: '',
    active: 0,
    found: [],
    total: 0,
    list: null,
    failure: null,
    busy: null,
    added: null,
    check: null
  };
  private most = SHOWN;
  /** Why the list could not be loaded; its note goes once the list is there. */
  private listError: ErrorInfo | null = null;
}
