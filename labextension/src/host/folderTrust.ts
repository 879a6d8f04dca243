/** The port to the folder's own settings; provided by the folder trust plugin. */

import type { ISignal } from '@lumino/signaling';

import type { Resource } from '../client/resource';
import type { FolderTrustView, PutTrust, TrustItem } from '../wire/generated';

/** The HTTP routes. Each method rejects with an `ApiError`. */
export interface IFolderTrustApi {
  trust(): Promise<FolderTrustView>;
  putTrust(body: PutTrust): Promise<FolderTrustView>;
}

/** The folder's own settings and the user's decisions. */
export interface IFolderTrust {
  /** All items as last read; read when a view first needs it. */
  readonly view: Resource<FolderTrustView>;
  /** Emitted when `announced` may have changed. */
  readonly changed: ISignal<unknown, void>;
  /** Items that wait for a decision and were not dismissed in this page. */
  readonly announced: readonly TrustItem[];
  /** Do not announce the current items again in this page. */
  dismiss(): void;
  /**
   * Store decisions on items. Rejects with an `ApiError`; its code is `stale` when an item changed since it was read:
   * nothing is stored then, and `view` has the new list.
   */
  answer(body: PutTrust): Promise<void>;
}
