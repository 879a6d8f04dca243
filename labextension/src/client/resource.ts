/** A value read from the server: the last one, and why reading failed. Owned by a store. */

import { Signal } from '@lumino/signaling';

import { ApiError, infoOf } from './http';
import type { ErrorInfo } from '../wire/generated';

/** A server value that can be read again. */
export class Resource<T> {
  constructor(private readonly read: () => Promise<T>) {}

  readonly changed = new Signal<this, void>(this);

  /** Null before the first read. */
  get value(): T | null {
    return this.current;
  }

  /** Why the last read failed; the value is then an older one. */
  get error(): ErrorInfo | null {
    return this.failure;
  }

  /** Whether it was ever requested. */
  get isRequested(): boolean {
    return this.latest > 0;
  }

  /** Read it once. */
  ensureLoaded(): void {
    if (!this.isRequested) {
      void this.load();
    }
  }

  /** Read it again. Never rejects: see `error`. */
  async load(): Promise<void> {
    const mine = ++this.latest;
    try {
      const value = await this.read();
      if (mine === this.latest) {
        this.set(value);
      }
    } catch (error) {
      if (mine === this.latest) {
        this.failure = infoOf(error);
        this.changed.emit();
      }
    }
  }

  /** Read it again if it was requested before. */
  async refresh(): Promise<void> {
    if (this.isRequested) {
      await this.load();
    }
  }

  /** Set the value from the response to a change; discards a read in progress. */
  set(value: T): void {
    this.latest++;
    this.current = value;
    this.failure = null;
    this.changed.emit();
  }

  private current: T | null = null;
  private failure: ErrorInfo | null = null;
  private latest = 0;
}

/** Return the value, reading it first if needed. Rejects when it cannot be read. */
export async function valueOf<T>(resource: Resource<T>): Promise<T> {
  if (resource.value === null) {
    await resource.load();
  }
  if (resource.value === null) {
    throw new ApiError(0, resource.error ?? infoOf(null));
  }
  return resource.value;
}
