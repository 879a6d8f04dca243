/** Models and status of the server. Owned by `Conversations`. */

import { Signal } from '@lumino/signaling';

import { infoOf, type IHttpClient } from '../../client/http';
import type { ErrorInfo, ModelList, Status } from '../../wire/generated';

/** The last known models and status. */
export class ServerStatus {
  constructor(private readonly http: IHttpClient) {}

  readonly changed = new Signal<this, void>(this);

  get models(): ModelList | null {
    return this.modelList;
  }

  get status(): Status | null {
    return this.serverStatus;
  }

  /** Why models and status could not be read. */
  get error(): ErrorInfo | null {
    return this.failure;
  }

  /** Read models and status. Never rejects: see `error`. */
  async load(): Promise<void> {
    try {
      [this.serverStatus, this.modelList] = await Promise.all([
        this.http.status(),
        this.http.models()
      ]);
      this.failure = null;
    } catch (error) {
      this.failure = infoOf(error);
    }
    this.changed.emit();
  }

  /** After a reconnect the server may be another one: read again what was read before. */
  async reload(): Promise<void> {
    if (this.serverStatus !== null || this.failure !== null) {
      await this.load();
    }
  }

  private modelList: ModelList | null = null;
  private serverStatus: Status | null = null;
  private failure: ErrorInfo | null = null;
}
