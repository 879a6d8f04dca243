/** The history: all known conversations, newest first. Owned by `Conversations`. */

import { Signal } from '@lumino/signaling';

import { infoOf, type IHttpClient } from '../../client/http';
import type {
  ErrorInfo,
  Event,
  Session,
  SessionList
} from '../../wire/generated';

/** The source of sub-agents, which are listed only where it is searched for. */
export const SUB_AGENT = 'delegate';

/** Sessions per request. */
const PAGE = 50;

/** The search; null and an empty text match everything. */
export interface IHistoryQuery {
  readonly text: string;
  readonly kind: Session['kind'] | null;
  readonly source: Session['source'] | null;
}

const ANYTHING: IHistoryQuery = { text: '', kind: null, source: null };

/** Add or replace sessions, newest update first; older states of known sessions are ignored. */
export function mergeSessions(
  known: readonly Session[],
  news: readonly Session[]
): Session[] {
  const byId = new Map(known.map(session => [session.id, session]));
  for (const session of news) {
    const before = byId.get(session.id);
    if (before === undefined || before.updated_at <= session.updated_at) {
      byId.set(session.id, session);
    }
  }
  return [...byId.values()].sort((a, b) =>
    a.updated_at < b.updated_at ? 1 : a.updated_at > b.updated_at ? -1 : 0
  );
}

/** The known sessions without those missing from the server's first page, which were deleted; it lists no sub-agents. */
export function withoutDeleted(
  known: readonly Session[],
  { sessions, next_cursor }: SessionList
): Session[] {
  const listed = new Set(sessions.map(({ id }) => id));
  const newest = sessions[0]?.updated_at ?? '';
  const oldest = next_cursor === null ? '' : sessions.at(-1)?.updated_at;
  return known.filter(
    ({ id, source, updated_at }) =>
      source === SUB_AGENT ||
      listed.has(id) ||
      updated_at > newest ||
      updated_at < (oldest ?? '')
  );
}

/** The sessions that a list of events mentions. */
export function sessionsIn(events: readonly Event[]): Session[] {
  return events.flatMap(event =>
    event.type === 'session-create' || event.type === 'session-update'
      ? [event.session]
      : []
  );
}

/** All known sessions. */
export class SessionsStore {
  constructor(private readonly http: IHttpClient) {}

  readonly changed = new Signal<this, void>(this);

  /** Newest update first. */
  get all(): readonly Session[] {
    return this.sessions;
  }

  /** The current search. */
  get query(): IHistoryQuery {
    return this.wanted;
  }

  /** Results of the last search; all sessions without a search. */
  get found(): readonly Session[] {
    const { matches, answered } = this;
    return this.sessions.filter(
      ({ id, kind, source }) =>
        (answered.kind ?? kind) === kind &&
        (answered.source ?? source) === source &&
        (answered.source !== null || source !== SUB_AGENT) &&
        (answered.text === '' || matches.has(id))
    );
  }

  get hasMore(): boolean {
    return this.cursor !== null;
  }

  /** Whether the server has answered once. */
  get isRead(): boolean {
    return this.read;
  }

  get error(): ErrorInfo | null {
    return this.failure;
  }

  get(id: string): Session | undefined {
    return this.sessions.find(session => session.id === id);
  }

  /** Change the search and read its first page. Never rejects: see `error`. */
  async find(change: Partial<IHistoryQuery>): Promise<void> {
    this.wanted = { ...this.wanted, ...change };
    this.changed.emit();
    await this.fetch(null);
  }

  /** Read the first page again. Never rejects: see `error`. */
  async refresh(): Promise<void> {
    await this.fetch(null);
  }

  /** Read the next page. */
  async loadMore(): Promise<void> {
    if (this.cursor !== null) {
      await this.fetch(this.cursor);
    }
  }

  /** The sub-agent that works for a call. */
  subAgent(parent: string | null, call: string): Session | null {
    return (
      this.sessions.find(
        ({ parent: works }) =>
          works?.session_id === parent && works.call_id === call
      ) ?? null
    );
  }

  /** Read the newest sub-agents, which no other list has. Never rejects. */
  async readSubAgents(): Promise<void> {
    try {
      const page = await this.http.sessions({ source: SUB_AGENT, limit: PAGE });
      this.receive(page.sessions);
    } catch (error) {
      console.warn('The sub-agents could not be listed:', error);
    }
  }

  receive(sessions: readonly Session[]): void {
    if (sessions.length > 0) {
      this.sessions = mergeSessions(this.sessions, sessions);
      this.changed.emit();
    }
  }

  remove(id: string): void {
    this.sessions = this.sessions.filter(session => session.id !== id);
    this.changed.emit();
  }

  private async fetch(cursor: string | null): Promise<void> {
    const { wanted } = this;
    try {
      const page = await this.http.sessions({
        ...(wanted.kind === null ? {} : { kind: wanted.kind }),
        ...(wanted.source === null ? {} : { source: wanted.source }),
        text: wanted.text,
        limit: PAGE,
        ...(cursor === null ? {} : { cursor })
      });
      if (wanted === this.wanted) {
        this.failure = null;
        this.read = true;
        this.answered = wanted;
        this.cursor = page.next_cursor;
        this.keepMatches(page.sessions, cursor === null);
        const all = isAnything(wanted) && cursor === null;
        const kept = all ? withoutDeleted(this.sessions, page) : this.sessions;
        this.sessions = mergeSessions(kept, page.sessions);
      }
    } catch (error) {
      this.failure = infoOf(error);
    }
    this.changed.emit();
  }

  private keepMatches(found: readonly Session[], fresh: boolean): void {
    const before = fresh ? [] : this.matches;
    this.matches = new Set([...before, ...found.map(({ id }) => id)]);
  }

  private sessions: readonly Session[] = [];
  /** Sessions that match the search text. */
  private matches: ReadonlySet<string> = new Set();
  private cursor: string | null = null;
  private read = false;
  private wanted = ANYTHING;
  /** The query that `matches` answers; the answer to the current one may be outstanding. */
  private answered = ANYTHING;
  private failure: ErrorInfo | null = null;
}

function isAnything({ text, kind, source }: IHistoryQuery): boolean {
  return text === '' && kind === null && source === null;
}
