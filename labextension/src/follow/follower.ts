/**
 * Follows the agent through the documents of the page: scrolls to the cell or lines being changed, flashes changes,
 * and pauses when the user scrolls or types. Never moves the caret or the focus, and never switches tabs. Loaded by
 * the follow plugin with the first turn; one per page.
 */

import type { TranslationBundle } from '@jupyterlab/translation';
import type { LabIcon } from '@jupyterlab/ui-components';
import { Signal, type ISignal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';

import type { ConversationStore } from '../model/sessions/conversationStore';
import type { Conversation, ServerFrame } from '../wire/generated';
import { FollowedDocuments, type IFollowLab } from './followedDocuments';
import { UserGestures } from './userGestures';
import { IDLE, reduceFollow, type FollowAction } from './followState';
import {
  runsCellsOf,
  turnOf,
  agentActivityIn,
  type IAgentActivity
} from './agentActivity';

/** How long a change is shown before the next one, in ms. */
const DWELL = 500;
/** Longest queue; if the agent is faster, only its newest activity is shown. */
const MAX_QUEUED = 3;

export interface IFollowerOptions extends IFollowLab {
  readonly frames: ISignal<unknown, ServerFrame>;
  readonly trans: TranslationBundle;
  readonly icon: LabIcon;
  /** The current widget of the main area. */
  readonly front: () => Widget | null;
}

export class Follower {
  constructor(private readonly options: IFollowerOptions) {
    this.documents = new FollowedDocuments(options);
    this.pill = new ReturnButton(options.trans, options.icon, () =>
      this.resume()
    );
    options.frames.connect(this.onFrame, this);
    this.userGestures = new UserGestures(() => {
      this.gestures += 1;
      this.queue = [];
      this.dispatch({ type: 'pause' });
    });
  }

  /** Emitted when the page started or stopped following. */
  readonly changed = new Signal<this, void>(this);

  /** Whether the user can return to the agent. */
  get isAway(): boolean {
    const { mode, work } = this.state;
    const isShown = work !== null && this.documents.shows(work.path);
    return (
      work !== null && (mode === 'paused' || (mode === 'following' && !isShown))
    );
  }

  set enabled(enabled: boolean) {
    this.dispatch({ type: 'set-enabled', enabled });
  }

  /** Follow a conversation; null for none. */
  watch(store: ConversationStore | null): void {
    if (store === this.store) {
      return;
    }
    this.store?.changed.disconnect(this.onChanged, this);
    this.store = store;
    store?.changed.connect(this.onChanged, this);
    this.seenStages.clear();
    this.isFirst = true;
    this.onChanged();
  }

  /** Go to the agent's work and follow again; opens the document. */
  resume(): void {
    const { work } = this.state;
    const hadFocus = this.pill.isFocused;
    this.dispatch({ type: 'resume' });
    if (work !== null) {
      void this.goTo(work, hadFocus);
    }
  }

  /** The current document changed: move the button to it. */
  readonly placeButton = (): void =>
    this.pill.attachTo(this.isAway ? this.buttonWidget() : null);

  private async goTo(work: IAgentActivity, takesFocus: boolean): Promise<void> {
    if (!this.documents.shows(work.path)) {
      await this.documents.open(work);
    }
    this.placeButton();
    const widget = this.options.front();
    if (takesFocus && widget !== null) {
      // The focused button was removed.
      widget.node.tabIndex = -1;
      widget.node.focus({ preventScroll: true });
    }
    await this.show(work);
  }

  /** The widget for the button: the agent's document if visible, else the current one. */
  private buttonWidget(): Widget | null {
    const path = this.state.work?.path;
    const shown = this.documents.visible;
    return (
      shown.find(({ context }) => context.localPath === path) ??
      shown[0] ??
      this.options.front()
    );
  }

  private readonly onChanged = (): void => {
    const view = this.store?.view ?? null;
    const isReady = this.store?.isReady === true;
    const turn = view === null || !isReady ? null : turnOf(view);
    if (turn === null) {
      if (view !== null && this.state.turn !== null) {
        this.queueNewActivity(view); // The last activity may come with the end of the turn.
      }
      this.dispatch({ type: 'set-turn', turn });
    } else if (view !== null) {
      this.dispatch({ type: 'set-turn', turn });
      this.queueNewActivity(view);
    }
  };

  /** Queue new activity; of that before watching began only the last. */
  private queueNewActivity(view: Conversation): void {
    const fresh = agentActivityIn(view).filter(
      ({ id, stage }) => this.seenStages.get(id) !== stage
    );
    fresh.forEach(({ id, stage }) => this.seenStages.set(id, stage));
    (this.isFirst ? fresh.slice(-1) : fresh).forEach(work => this.add(work));
    this.isFirst = false;
  }

  /** For runs of several cells only the frames say which cell runs. */
  private readonly onFrame = (_: unknown, frame: ServerFrame): void => {
    if (frame.type !== 'cell-run-start' && frame.type !== 'cell-run-end') {
      return;
    }
    const { run_id: id, path, cell_id: cellId } = frame;
    const view = this.store?.view;
    if (view !== undefined && runsCellsOf(view, path)) {
      const stage = frame.type === 'cell-run-start' ? 'now' : 'ran';
      this.add({ id, path, cellId, stage, edit: null });
    }
  };

  private add(work: IAgentActivity): void {
    this.dispatch({ type: 'add-work', work });
    if (this.state.mode === 'following') {
      const others = this.queue.filter(({ id }) => id !== work.id);
      this.queue = [...others, work].slice(-MAX_QUEUED);
      void this.showQueue();
    }
  }

  /** Show the queue one by one, each for a minimum time. */
  private async showQueue(): Promise<void> {
    if (this.isShowing) {
      return;
    }
    this.isShowing = true;
    for (let work = this.queue.shift(); work; work = this.queue.shift()) {
      await this.show(work);
      if (work.stage !== 'now' && this.queue.length > 0) {
        await new Promise(resolve => setTimeout(resolve, DWELL));
      }
    }
    this.isShowing = false;
  }

  /** Show an activity unless the user scrolls or types first. Never rejects. */
  private async show(work: IAgentActivity): Promise<void> {
    const { gestures } = this;
    try {
      await this.documents.reveal(work, () => this.gestures === gestures);
    } catch (error) {
      console.warn(`The work in ${work.path} could not be shown:`, error);
    }
  }

  private dispatch(action: FollowAction): void {
    const before = this.state;
    this.state = reduceFollow(before, action);
    if (this.state === before) {
      return;
    }
    if (this.state.mode === 'paused' || this.state.mode === 'off') {
      this.queue = [];
      this.documents.stop();
    }
    this.placeButton();
    this.changed.emit();
  }

  private state = IDLE;
  private store: ConversationStore | null = null;
  private readonly documents: FollowedDocuments;
  private readonly pill: ReturnButton;
  /** Active as long as the page lives. */
  protected readonly userGestures: UserGestures;
  /** The last seen stage of each activity. */
  private readonly seenStages = new Map<string, IAgentActivity['stage']>();
  private isFirst = true;
  /** Activity still to be shown. */
  private queue: IAgentActivity[] = [];
  private isShowing = false;
  /** Number of the user's scroll and typing gestures. */
  private gestures = 0;
}

/** The button that returns to the agent; one for the page, over one document at a time. */
export class ReturnButton {
  constructor(trans: TranslationBundle, icon: LabIcon, go: () => void) {
    const { node } = this;
    node.type = 'button';
    node.className = 'shoulders-FollowPill';
    icon.element({ container: this.icon, height: '14px', width: '14px' });
    node.append(this.icon, trans.__('Back to the agent'));
    node.addEventListener('click', go);
  }

  get isFocused(): boolean {
    return document.activeElement === this.node;
  }

  /** Attach the button to a widget; null removes it. */
  attachTo(over: Widget | null): void {
    if (over === null) {
      this.node.remove();
    } else if (this.node.parentElement !== over.node) {
      over.node.append(this.node);
    }
  }

  private readonly node = document.createElement('button');
  private readonly icon = document.createElement('span');
}
