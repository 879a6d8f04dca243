/** A folder with settings, in memory; refuses decisions as the server does. */

import { ApiError } from '../../client/http';
import type { FakeSocket } from '../../model/__tests__/fakes';
import { problem } from '../../model/__tests__/fakes';
import type {
  FolderTrustView,
  PutTrust,
  TrustItem
} from '../../wire/generated';
import type { IFolderTrustApi } from '../../host/folderTrust';
import { FolderTrustStore } from '../store';

export function item(
  kind: TrustItem['kind'],
  change: Partial<TrustItem> = {}
): TrustItem {
  return {
    id: `id of ${kind}`,
    kind,
    name: `a ${kind}`,
    file: '.shoulders/file.json',
    line: 3,
    content: `{"kind": "${kind}"}`,
    host: null,
    warnings: [],
    state: 'new',
    ...change
  };
}

/** The server's side of the folder's settings. */
export class FakeFolder implements IFolderTrustApi {
  readonly answers: PutTrust[] = [];
  reads = 0;
  held: FolderTrustView = { folder: '/w', policy: 'ask', items: [] };

  have(...items: readonly TrustItem[]): void {
    this.held = { ...this.held, items: [...items] };
  }

  /** A page's store for this folder. */
  store(socket: FakeSocket): FolderTrustStore {
    return new FolderTrustStore(this, socket);
  }

  async trust(): Promise<FolderTrustView> {
    this.reads++;
    return this.held;
  }

  async putTrust(body: PutTrust): Promise<FolderTrustView> {
    this.answers.push(body);
    const { trust = [], decline = [] } = body;
    const known = this.held.items.map(({ id }) => id);
    if ([...trust, ...decline].some(id => !known.includes(id))) {
      throw new ApiError(409, { ...problem, code: 'stale' });
    }
    const state = (each: TrustItem): TrustItem['state'] =>
      trust.includes(each.id)
        ? 'trusted'
        : decline.includes(each.id)
          ? 'declined'
          : each.state;
    this.have(
      ...this.held.items.map(each => ({ ...each, state: state(each) }))
    );
    return this.held;
  }
}
