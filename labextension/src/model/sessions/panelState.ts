/** What the panel shows beside the conversations themselves: a list of them, a title being changed, what was deleted. */

import { Signal } from '@lumino/signaling';

import { infoOf } from '../../client/http';
import type { ErrorInfo, Session } from '../../wire/generated';

/** A conversation that was deleted, to be brought back. */
export interface IDeletedConversation {
  readonly session: Session;
  /** It was a tab then. */
  readonly wasOpen: boolean;
}

/** A list that is shown in the place of the conversation. */
export type PanelList = 'history' | 'threads';

/** The state of the panel as it is now. */
export interface IPanelState {
  readonly list: PanelList | null;
  /** The session whose title is being changed in its tab. */
  readonly renaming: string | null;
  readonly removed: IDeletedConversation | null;
  /** Why the last act failed. */
  readonly error: ErrorInfo | null;
}

/** The state, and a signal when it changes. Owned by `PanelActions`. */
export class PanelState {
  readonly changed = new Signal<this, void>(this);

  get state(): IPanelState {
    return this.current;
  }

  change(change: Partial<IPanelState>): void {
    this.current = { ...this.current, ...change };
    this.changed.emit();
  }

  /** Do something that may fail; never rejects: see `state.error`. */
  async attempt(act: () => Promise<unknown>): Promise<void> {
    this.change({ error: null });
    try {
      await act();
    } catch (error) {
      this.change({ error: infoOf(error) });
    }
  }

  private current: IPanelState = {
    list: null,
    renaming: null,
    removed: null,
    error: null
  };
}
