/** State of the panel outside conversations: the open list, a title being edited, deleted conversations. */

import { Signal } from '@lumino/signaling';

import { infoOf } from '../../client/http';
import type { ErrorInfo, Session } from '../../wire/generated';

/** A deleted conversation, which can be restored. */
export interface IDeletedConversation {
  readonly session: Session;
  /** Whether it was open in a tab. */
  readonly wasOpen: boolean;
}

/** A list shown instead of the conversation. */
export type PanelList = 'history' | 'threads';

/** The state of the panel. */
export interface IPanelState {
  readonly list: PanelList | null;
  /** The session whose title is being edited in its tab. */
  readonly renaming: string | null;
  readonly removed: IDeletedConversation | null;
  /** Why the last action failed. */
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

  /** Run an action that may fail; never rejects: see `state.error`. */
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
