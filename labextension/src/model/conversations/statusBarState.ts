/** State of the status bar: model, number of running turns, cost of the month. Used by the status item. */

import { Signal } from '@lumino/signaling';

import type { IHttpClient } from '../../client/http';
import type { IPageSocket } from '../../client/socket';
import type { Event, ServerFrame, Session } from '../../wire/generated';
import type { IConversations } from './interface';
import { sessionsIn } from '../sessions/sessionHistory';

/** The state; null means unknown. */
export interface IStatusBarState {
  /** Name of the model of the active conversation. */
  readonly model: string | null;
  readonly running: number;
  /** Conversations that ask the user something. */
  readonly waiting: number;
  /** Known cost of this month, in micro-dollars. */
  readonly cost: number | null;
  /** Calls of this month with unknown cost. */
  readonly unknown: number;
  readonly limit: number | null;
}

type BusyStatus = 'running' | 'waiting';

/** Sessions requested at the start; running ones were updated last. */
const NEWEST = 50;
/** Delay after a turn before its cost is requested, in ms. */
const SETTLE_MS = 1000;

/** Keeps the state current. Lives as long as the page. */
export class StatusBarState {
  constructor(
    private readonly http: Pick<IHttpClient, 'sessions' | 'status' | 'usage'>,
    socket: Pick<IPageSocket, 'eventsReceived' | 'frameReceived' | 'opened'>,
    private readonly conversations: Pick<
      IConversations,
      'active' | 'changed' | 'model' | 'models'
    >
  ) {
    socket.eventsReceived.connect((_, events) => this.onEvents(events));
    socket.frameReceived.connect((_, frame) => this.onFrame(frame));
    socket.opened.connect(() => this.read());
    conversations.changed.connect(() => this.changed.emit());
  }

  readonly changed = new Signal<this, void>(this);

  get current(): IStatusBarState {
    const { active, models } = this.conversations;
    const id = this.conversations.model(active.key) ?? this.standard;
    const known = models?.models.find(model => model.id === id);
    return {
      // An agent of others is not listed; its name follows the prefix.
      model: known?.label ?? known?.name ?? id?.replace(/^agent:/, '') ?? null,
      running: this.count('running'),
      waiting: this.count('waiting'),
      cost: this.cost,
      unknown: this.unknown,
      limit: this.limit
    };
  }

  /** Request everything. Failed requests are repeated when the page reconnects. */
  read(): void {
    this.readDefaultModel();
    this.readCost();
    this.request(this.http.sessions({ limit: NEWEST }), ({ sessions }) => {
      this.busy.clear();
      sessions.forEach(session => this.note(session));
    });
  }

  private readDefaultModel(): void {
    this.request(this.http.status(), status => {
      this.standard = status.default_model;
    });
  }

  private readCost(): void {
    this.request(this.http.usage(), ({ budget, total }) => {
      const month = budget.limits.find(({ scope }) => scope === 'month');
      this.cost = month?.spent_micro_usd ?? null;
      this.limit = month?.limit_micro_usd ?? null;
      this.unknown = total?.unknown_cost_calls ?? 0;
    });
  }

  private request<T>(answer: Promise<T>, take: (value: T) => void): void {
    answer.then(
      value => {
        take(value);
        this.changed.emit();
      },
      (error: unknown) =>
        console.warn('The AI item of the status bar is not up to date:', error)
    );
  }

  private onEvents(events: readonly Event[]): void {
    const sessions = sessionsIn(events);
    sessions.forEach(session => this.note(session));
    if (sessions.length > 0) {
      this.changed.emit();
    }
    if (sessions.some(({ status }) => status !== 'running')) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.readCost(), SETTLE_MS);
    }
  }

  /** A working sub-agent is not counted: its parent works too. */
  private note({ id, status, parent }: Session): void {
    const isPart = status === 'running' && parent?.session_id !== undefined;
    if ((status === 'running' || status === 'waiting') && !isPart) {
      this.busy.set(id, status);
    } else {
      this.busy.delete(id);
    }
  }

  private count(status: BusyStatus): number {
    return [...this.busy.values()].filter(each => each === status).length;
  }

  private onFrame(frame: ServerFrame): void {
    if (frame.type === 'session-delete') {
      this.busy.delete(frame.session_id);
      this.changed.emit();
    } else if (frame.type === 'settings-update') {
      if (frame.part === 'budget') {
        this.readCost();
      } else if (frame.part !== 'search') {
        this.readDefaultModel();
      }
    }
  }

  private readonly busy = new Map<string, BusyStatus>();
  private standard: string | null = null;
  private cost: number | null = null;
  private limit: number | null = null;
  private unknown = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
}
