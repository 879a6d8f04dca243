/** A list read page by page, the latest first. Used by approvals and changes. */

import { Signal } from '@lumino/signaling';

import { infoOf } from '../../client/http';
import type { ErrorInfo } from '../../wire/generated';

/** One page of a list. */
export interface IPage<T> {
  readonly rows: readonly T[];
  /** Start of the next page; null after the last. */
  readonly cursor: string | null;
}

/** The loaded part of a list. */
export class PageLoader<T> {
  constructor(
    private readonly read: (cursor: string | null) => Promise<IPage<T>>
  ) {}

  readonly changed = new Signal<this, void>(this);

  /** Null before the first page. */
  get rows(): readonly T[] | null {
    return this.known;
  }

  get error(): ErrorInfo | null {
    return this.failure;
  }

  get isBusy(): boolean {
    return this.busy;
  }

  get hasMore(): boolean {
    return this.cursor !== null;
  }

  /** Read the first page once. */
  ensureLoaded(): void {
    if (!this.wanted) {
      void this.loadMore();
    }
  }

  /** Read the next page. Never rejects: see `error`. */
  async loadMore(): Promise<void> {
    if (this.busy) {
      return;
    }
    this.wanted = true;
    this.busy = true;
    this.failure = null;
    this.changed.emit();
    try {
      const page = await this.read(this.cursor);
      this.known = [...(this.known ?? []), ...page.rows];
      this.cursor = page.cursor;
    } catch (error) {
      this.failure = infoOf(error);
    }
    this.busy = false;
    this.changed.emit();
  }

  private known: readonly T[] | null = null;
  private cursor: string | null = null;
  private failure: ErrorInfo | null = null;
  private busy = false;
  private wanted = false;
}
