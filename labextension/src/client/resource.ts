/** Something read from the server: its value as it was read last, and why it could not be. Owned by the store. */

import { Signal } from '@lumino/signaling';

import { ApiError, infoOf } from './http';
import type { ErrorInfo } from '../wire/generated';

/** A value of the server that can be read again. */
export class Resource<T> {
  constructor(private readonly read: () => Promise<T>) {}

  readonly changed = new Signal<this, void>(this);

  /** Null before it was read. */
  get value(): T | null {
    return this.current;
  }

  /** Why the last reading failed; the value is an older one then. */
  get error(): ErrorInfo | null {
    return this.failure;
  }

  /** Whether it was ever asked for. */
  get isWanted(): boolean {
    return this.latest > 0;
  }

  /** Read it, unless that was done. */
  want(): void {
    if (!this.isWanted) {
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

  /** Read it again if somebody looks at it. */
  async refresh(): Promise<void> {
    if (this.isWanted) {
      await this.load();
    }
  }

  /** The server has answered a change with the new value; what is being read is older. */
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

/** The value, read first where it was not. Rejects when it cannot be read. */
export async function valueOf<T>(resource: Resource<T>): Promise<T> {
  if (resource.value === null) {
    await resource.load();
  }
  if (resource.value === null) {
    throw new ApiError(0, resource.error ?? infoOf(null));
  }
  return resource.value;
}
