/** The references of the workspace as this page knows them. Shared by completion, rendered citations and the panel. */

import { Signal } from '@lumino/signaling';

import { infoOf, type IHttpClient } from '../client/http';
import type { ErrorInfo, Reference, ReferenceList } from '../wire/generated';

const PAGE = 200;
const MOST_PAGES = 25;

/** Keeps the list; asks for it again after a change. */
export class ReferenceLibrary {
  constructor(private readonly http: Pick<IHttpClient, 'call'>) {}

  /** Emitted when the list, or the reason why there is none, has changed. */
  readonly changed = new Signal<this, void>(this);

  /** The last answer, without its references; null before the first one. */
  get list(): ReferenceList | null {
    return this.answer;
  }

  get error(): ErrorInfo | null {
    return this.failure;
  }

  get references(): readonly Reference[] {
    return this.all;
  }

  get(key: string): Reference | undefined {
    return this.byKey.get(key);
  }

  /** Load the list once. */
  load(): Promise<void> {
    return (this.loading ??= this.fetch());
  }

  /** Load it again: a bibliography or a setting has changed. Calls while one is waiting join it. */
  refresh(): Promise<void> {
    return (this.waiting ??= this.fetchNext());
  }

  private async fetchNext(): Promise<void> {
    await this.loading;
    this.waiting = null;
    this.loading = this.fetch();
    await this.loading;
  }

  private async fetch(): Promise<void> {
    try {
      const all: Reference[] = [];
      let list = await this.page(0);
      all.push(...list.references);
      while (all.length < list.total && all.length < PAGE * MOST_PAGES) {
        const next = await this.page(all.length);
        if (next.references.length === 0) {
          break;
        }
        all.push(...next.references);
        list = { ...next };
      }
      this.answer = list;
      this.failure = null;
      this.all = all;
      this.byKey = new Map(
        [...all].reverse().map(reference => [reference.key, reference])
      );
    } catch (error) {
      this.failure = infoOf(error);
    }
    this.changed.emit();
  }

  private page(offset: number): Promise<ReferenceList> {
    const query = new URLSearchParams({
      limit: String(PAGE),
      offset: String(offset)
    });
    return this.http.call('GET', `references?${query.toString()}`);
  }

  private answer: ReferenceList | null = null;
  private failure: ErrorInfo | null = null;
  private all: readonly Reference[] = [];
  private byKey: ReadonlyMap<string, Reference> = new Map();
  private loading: Promise<void> | null = null;
  /** A refresh that waits for the end of a request. */
  private waiting: Promise<void> | null = null;
}
