/**
 * Reads the folder's own settings and sends the user's decisions. Reads again when the server reports a change, after
 * a reconnection, and when the window regains the focus, because a `git pull` sends no frame. Made by the folder
 * trust plugin; shown by the chat panel's bar and the settings page.
 */

import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import { ApiError } from '../client/http';
import type { IPageSocket } from '../client/socket';
import { Resource } from '../client/resource';
import type {
  FolderTrustView,
  PutTrust,
  ServerFrame,
  TrustItem
} from '../wire/generated';
import type { IFolderTrust, IFolderTrustApi } from '../host/folderTrust';
import { isWaiting } from './items';

/** Shortest time between two requests caused by the focus, in ms. */
const FOCUS_THROTTLE_MS = 10_000;

export class FolderTrustStore implements IFolderTrust, IDisposable {
  constructor(
    private readonly api: IFolderTrustApi,
    private readonly socket: Pick<IPageSocket, 'frameReceived' | 'opened'>,
    private readonly clock: () => number = Date.now
  ) {
    this.view = new Resource(() => {
      this.readAt = this.clock();
      return api.trust();
    });
    this.view.changed.connect(this.announce);
    socket.frameReceived.connect(this.onFrame);
    socket.opened.connect(this.onOpened);
  }

  readonly view: Resource<FolderTrustView>;
  readonly changed = new Signal<this, void>(this);

  get announced(): readonly TrustItem[] {
    const { value } = this.view;
    const waiting =
      value?.policy === 'ask' ? value.items.filter(isWaiting) : [];
    return waiting.every(({ id }) => this.dismissed.has(id)) ? [] : waiting;
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  dispose(): void {
    this.disposed = true;
    this.socket.frameReceived.disconnect(this.onFrame);
    this.socket.opened.disconnect(this.onOpened);
    Signal.clearData(this);
  }

  dismiss(): void {
    this.dismissed = new Set(this.announced.map(({ id }) => id));
    this.announce();
  }

  async answer(body: PutTrust): Promise<void> {
    try {
      this.view.set(await this.api.putTrust(body));
    } catch (error) {
      if (error instanceof ApiError && error.info.code === 'stale') {
        await this.view.load();
      }
      throw error;
    }
  }

  /** The window regained the focus. */
  readonly onFocus = (): void => {
    if (this.clock() - this.readAt >= FOCUS_THROTTLE_MS) {
      void this.view.refresh();
    }
  };

  private readonly onFrame = (_: unknown, frame: ServerFrame): void => {
    if (frame.type === 'settings-update' && frame.part === 'trust') {
      void this.view.refresh();
    }
  };

  private readonly onOpened = (): void => void this.view.refresh();

  private readonly announce = (): void => this.changed.emit();

  /** Ids of the items that the user dismissed. */
  private dismissed: ReadonlySet<string> = new Set();
  private readAt = -Infinity;
  private disposed = false;
}
