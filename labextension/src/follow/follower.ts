/**
 * Follows the agent through the documents of the page (chapter 08): scrolls to the cell or the lines at work, marks what
 * changed, and leaves the page alone once the user scrolls or types. It never moves the caret or the focus, and brings no
 * tab to the front. Loaded by the follow plugin with the first turn; one per page.
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

/** How long a change is looked at before the next one is shown, in ms. */
const DWELL = 500;
/** When the agent is faster, only its newest work is shown. */
const MOST_BEHIND = 3;

/** What the follower is made with. */
export interface IFollowerOptions extends IFollowLab {
  readonly frames: ISignal<unknown, ServerFrame>;
  readonly trans: TranslationBundle;
  readonly icon: LabIcon;
  /** The widget in front in the main area. */
  readonly front: () => Widget | null;
}

/** The follower of the page. */
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

  /** Emitted when the page began or ceased to follow. */
  readonly changed = new Signal<this, void>(this);

  /** Whether there is a way back to the agent. */
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

  /** Follow the conversation in front; none with null. */
  watch(store: ConversationStore | null): void {
    if (store === this.store) {
      return;
    }
    this.store?.changed.disconnect(this.onChanged, this);
    this.store = store;
    store?.changed.connect(this.onChanged, this);
    this.seen.clear();
    this.isFirst = true;
    this.onChanged();
  }

  /** Go where the agent works, and follow again; opens the document. */
  resume(): void {
    const { work } = this.state;
    const hadFocus = this.pill.isFocused;
    this.dispatch({ type: 'resume' });
    if (work !== null) {
      void this.goTo(work, hadFocus);
    }
  }

  /** Another document is in front: the button goes along. */
  readonly place = (): void =>
    this.pill.place(this.isAway ? this.over() : null);

  private async goTo(work: IAgentActivity, takesFocus: boolean): Promise<void> {
    if (!this.documents.shows(work.path)) {
      await this.documents.open(work);
    }
    this.place();
    const widget = this.options.front();
    if (takesFocus && widget !== null) {
      // The button that had it is gone.
      widget.node.tabIndex = -1;
      widget.node.focus({ preventScroll: true });
    }
    await this.show(work);
  }

  /** The widget the button is over: the document at work if it is seen, else what is in front. */
  private over(): Widget | null {
    const path = this.state.work?.path;
    const shown = this.documents.shown;
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
        this.look(view); // Its last work may come with its end.
      }
      this.dispatch({ type: 'set-turn', turn });
    } else if (view !== null) {
      this.dispatch({ type: 'set-turn', turn });
      this.look(view);
    }
  };

  /** Take up what is new in the conversation; of all that was done before it was watched, the last. */
  private look(view: Conversation): void {
    const fresh = agentActivityIn(view).filter(
      ({ id, stage }) => this.seen.get(id) !== stage
    );
    fresh.forEach(({ id, stage }) => this.seen.set(id, stage));
    (this.isFirst ? fresh.slice(-1) : fresh).forEach(work => this.add(work));
    this.isFirst = false;
  }

  /** Of runs of several cells only the frames say which one it is. */
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
      this.queue = [...others, work].slice(-MOST_BEHIND);
      void this.showQueue();
    }
  }

  /** Show one after the other, each long enough to be seen. */
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

  /** Show some work, unless the user scrolls or types before. Never rejects. */
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
    this.place();
    this.changed.emit();
  }

  private state = IDLE;
  private store: ConversationStore | null = null;
  private readonly documents: FollowedDocuments;
  private readonly pill: ReturnButton;
  /** Listened to as long as the page lives. */
  protected readonly userGestures: UserGestures;
  /** The stage each piece of work was seen in. */
  private readonly seen = new Map<string, IAgentActivity['stage']>();
  private isFirst = true;
  /** What is still to be shown. */
  private queue: IAgentActivity[] = [];
  private isShowing = false;
  /** How often the user has scrolled or typed. */
  private gestures = 0;
}

/** One for the page; it is over one document at a time. */
export class ReturnButton {
  constructor(trans: TranslationBundle, icon: LabIcon, go: () => void) {
    const { node } = this;
    node.type = 'button';
    node.className = 'shoulders-FollowPill';
    icon.element({ container: this.icon, height: '14px', width: '14px' });
    node.append(this.icon, trans.__('Back to the agent'));
    node.addEventListener('click', go);
  }

  /** Whether it has the focus. */
  get isFocused(): boolean {
    return document.activeElement === this.node;
  }

  /** Be over a widget; over none with null. */
  place(over: Widget | null): void {
    if (over === null) {
      this.node.remove();
    } else if (this.node.parentElement !== over.node) {
      over.node.append(this.node);
    }
  }

  private readonly node = document.createElement('button');
  private readonly icon = document.createElement('span');
}
