/** What other parts of the page may ask about the settings that the folder brings along; the folder trust plugin provides it. */

import type { ISignal } from '@lumino/signaling';

import type { Resource } from '../client/resource';
import type { FolderTrustView, PutTrust, TrustItem } from '../wire/generated';

/** The routes, typed. Each method rejects with an `ApiError`. */
export interface IFolderTrustApi {
  trust(): Promise<FolderTrustView>;
  putTrust(body: PutTrust): Promise<FolderTrustView>;
}

/** The folder's own settings and the user's answers. */
export interface IFolderTrust {
  /** All items as they were read last; read when a view first asks for it. */
  readonly view: Resource<FolderTrustView>;
  /** Emitted when `announced` may have changed. */
  readonly changed: ISignal<unknown, void>;
  /** The items that wait for an answer and were not dismissed in this page. */
  readonly announced: readonly TrustItem[];
  /** Announce the present items no more in this page. */
  dismiss(): void;
  /**
   * Store answers about some items. Rejects with an `ApiError`; with the code `stale` when an item changed since it was
   * read: then nothing is stored and `view` has the new list.
   */
  answer(body: PutTrust): Promise<void>;
}
