/** Routes and state of schedules and watchers. Made by the schedules plugin when the page is opened. */

import { Signal } from '@lumino/signaling';

import type { IHttpClient } from '../client/http';
import { Resource } from '../client/resource';
import type { IPageSocket } from '../client/socket';
import type {
  PatchSchedule,
  PostSchedule,
  PreviewSchedule,
  SchedulePreview,
  ScheduleList,
  ScheduleRunList,
  ScheduleStatus,
  WatcherList
} from '../wire/generated';

/** Each method rejects with an `ApiError`. */
export interface ISchedulesApi {
  list(): Promise<ScheduleList>;
  /** How watchers fare. */
  watchers(): Promise<WatcherList>;
  create(body: PostSchedule): Promise<ScheduleStatus>;
  change(id: string, body: PatchSchedule): Promise<ScheduleStatus>;
  remove(id: string): Promise<void>;
  runNow(id: string): Promise<unknown>;
  runs(id: string): Promise<ScheduleRunList>;
  /** The next times of a trigger, or the files that a pattern matches. */
  preview(body: PreviewSchedule): Promise<SchedulePreview>;
}

/** The routes over HTTP. */
export function schedulesApi(http: Pick<IHttpClient, 'call'>): ISchedulesApi {
  const one = (id: string, what = ''): string =>
    `schedules/${encodeURIComponent(id)}${what}`;
  return {
    list: () => http.call('GET', 'schedules'),
    watchers: () => http.call('GET', 'schedules/watchers'),
    create: body => http.call('POST', 'schedules', body),
    change: (id, body) => http.call('PATCH', one(id), body),
    remove: id => http.call('DELETE', one(id)),
    runNow: id => http.call('POST', one(id, '/run'), {}),
    runs: id => http.call('GET', one(id, '/runs?limit=20')),
    preview: body => http.call('POST', 'schedules/preview', body)
  };
}

/** What a new schedule begins with, as the command that opens the form names it. */
export interface IScheduleStart {
  readonly prompt?: string;
  readonly notebook?: string;
  readonly sessionId?: string;
  readonly title?: string;
}

/** Loads the schedules and follows their changes; owned by the plugin. */
export class SchedulesStore {
  constructor(
    readonly api: ISchedulesApi,
    socket: Pick<IPageSocket, 'frameReceived' | 'opened'>
  ) {
    this.list = new Resource(() => api.list());
    this.watchers = new Resource(() => api.watchers());
    socket.frameReceived.connect((_, frame) => {
      if (frame.type === 'settings-update' && frame.part === 'schedules') {
        this.refresh();
      }
    });
    socket.opened.connect(() => this.refresh());
  }

  readonly list: Resource<ScheduleList>;
  readonly watchers: Resource<WatcherList>;

  /** Emitted when a form for a new schedule is asked for. */
  readonly started = new Signal<this, IScheduleStart>(this);

  /** The start of the form that is asked for and not shown yet; null once taken. */
  takeStart(): IScheduleStart | null {
    const start = this.pendingStart;
    this.pendingStart = null;
    return start;
  }

  /** Show the form for a new schedule. */
  start(start: IScheduleStart): void {
    this.pendingStart = start;
    this.started.emit(start);
  }

  /** Read again what is shown. */
  refresh(): void {
    void this.list.refresh();
    void this.watchers.refresh();
  }

  /** Make a change, then read the list again. */
  async change<T>(act: Promise<T>): Promise<T> {
    try {
      return await act;
    } finally {
      await Promise.all([this.list.refresh(), this.watchers.refresh()]);
    }
  }

  private pendingStart: IScheduleStart | null = null;
}
