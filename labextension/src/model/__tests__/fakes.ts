/** In-memory server and socket for specs; the server keeps logs and records every request. */

import { Signal } from '@lumino/signaling';

import {
  ApiError,
  type IHttpClient,
  type ISessionQuery
} from '../../client/http';
import type { IPageSocket, SocketStatus } from '../../client/socket';
import type {
  AnswerApproval,
  AnswerInput,
  AnswerQuestion,
  BudgetState,
  CreateSession,
  DecideEdit,
  DecideEdits,
  DecideProposal,
  EditDecision,
  EditDecisions,
  ErrorInfo,
  Event,
  EventPage,
  ForkSession,
  MessageAccepted,
  ModelInfo,
  ModelList,
  PageFrame,
  PendingEdit,
  PendingEditList,
  PutBudget,
  Restore,
  RestoreSession,
  ResumeTurn,
  Resync,
  SendMessage,
  ServerFrame,
  Session,
  SessionList,
  Status,
  SupplyResult,
  UndoTurn,
  Usage
} from '../../wire/generated';
import '../reducer/conversation'; // Stores import this with the first log. Imported here, `settled` need not wait for it.

export const problem: ErrorInfo = {
  code: 'internal',
  message: 'It broke.',
  hint: 'Mend it.',
  retryable: true,
  details: null,
  provider: null,
  model: null,
  request_id: null
};

export function session(id: string, change: Partial<Session> = {}): Session {
  return {
    id,
    kind: 'chat',
    source: 'chat',
    title: `Title of ${id}`,
    model: 'demo/demo',
    mode: 'ask',
    tools: 'enabled',
    toolset: 'full',
    interactive: true,
    status: 'idle',
    anchor: null,
    owner: null,
    parent: null,
    message_count: 0,
    last_seq: 0,
    tokens_used: 0,
    window: null,
    cost_micro_usd: 0,
    created_at: '2026-11-21T10:00:00Z',
    updated_at: '2026-11-21T10:00:00Z',
    ...change
  };
}

export function model(id: string, change: Partial<ModelInfo> = {}): ModelInfo {
  return {
    id,
    name: `Name of ${id}`,
    provider: 'demo',
    provider_name: 'Demo',
    available: true,
    unavailable_reason: null,
    context_window: 200_000,
    max_output: null,
    tools: true,
    images: false,
    reasoning: false,
    prices: { input: null, output: null, cache_read: null, cache_write: null },
    roles: [],
    label: null,
    ...change
  };
}

export const status: Status = {
  version: '0',
  wire_version: 1,
  workspace: '/w',
  models: 'ready',
  default_model: 'demo/demo',
  providers: [],
  demo: true,
  collaboration: false,
  document_server: null,
  sandbox: 'none',
  usage_error: null,
  package_errors: [],
  state_directory_error: null
};

/** A budget without limits. */
export const noBudget: BudgetState = {
  limits: (['month', 'day', 'session', 'turn'] as const).map(scope => ({
    scope,
    limit_micro_usd: null,
    user_micro_usd: null,
    administrator_micro_usd: null,
    spent_micro_usd: scope === 'month' || scope === 'day' ? 0 : null,
    held_micro_usd: null
  })),
  month: '2026-11',
  day: '2026-11-21',
  revision: 'r',
  error: null
};

/** Page socket in memory; `deliver` plays the server. */
export class FakeSocket implements IPageSocket {
  readonly clientId = 'page';
  status: SocketStatus = 'open';
  readonly statusChanged = new Signal<this, SocketStatus>(this);
  readonly opened = new Signal<this, void>(this);
  readonly eventsReceived = new Signal<this, readonly Event[]>(this);
  readonly resyncRequested = new Signal<this, Resync>(this);
  readonly frameReceived = new Signal<this, ServerFrame>(this);
  readonly subscriptions = new Map<string, number>();

  deliver(events: readonly Event[]): void {
    this.eventsReceived.emit(events);
  }
  /** Messages go by HTTP here, see `FakeServer`. */
  send(frame: PageFrame): boolean {
    return frame.type !== 'message-send';
  }
  subscribe(sessionId: string, after: number): void {
    this.subscriptions.set(sessionId, after);
  }
  unsubscribe(sessionId: string): void {
    this.subscriptions.delete(sessionId);
  }
  reconnect(): void {
    this.setStatus('open');
  }
  renew(): void {
    this.reconnect();
  }
  setStatus(status: SocketStatus): void {
    this.status = status;
    this.statusChanged.emit(status);
  }
}

/** Server in memory: put events into `logs`, read the requests from `asked`. */
export class FakeServer implements IHttpClient {
  readonly logs = new Map<string, Event[]>();
  sessionList: Session[] = [];
  modelList: ModelList = {
    models: [model('demo/demo')],
    default: 'demo/demo',
    default_set: false,
    default_is_stand_in: false,
    single_calls: [],
    providers: [],
    problems: []
  };
  serverStatus = status;
  /** Content of every file it returns. */
  file = new Blob(['content']);
  budget: BudgetState = noBudget;
  /** Pending edits, and the answers to decisions on them. */
  edits: PendingEdit[] = [];
  decided: EditDecision = { edit: null, drift: null };
  allDecided: EditDecisions = { resolved: [], left: [], drift: [] };
  readonly requests: unknown[][] = [];
  /** Thrown by the next request. */
  failure: ApiError | null = null;
  /** Events per page of a log. */
  pageSize = 5000;

  fail(info: Partial<ErrorInfo> = {}, code = 500): void {
    this.failure = new ApiError(code, { ...problem, ...info });
  }

  async status(): Promise<Status> {
    return this.answer(this.serverStatus);
  }
  async models(): Promise<ModelList> {
    return this.answer(this.modelList);
  }
  async testProvider(): Promise<never> {
    return Promise.reject(new Error('not in these tests'));
  }
  async setKey(id: string): Promise<void> {
    this.note('setKey', id);
  }
  async removeKey(id: string): Promise<void> {
    this.note('removeKey', id);
  }
  async sessions(query: ISessionQuery = {}): Promise<SessionList> {
    const { text = '' } = query;
    const found = this.sessionList.filter(
      ({ title, kind, source }) =>
        title.includes(text) &&
        kind === (query.kind ?? kind) &&
        source === (query.source ?? source)
    );
    return this.answer({ sessions: found, next_cursor: null });
  }
  async createSession(body: CreateSession): Promise<Session> {
    this.note('createSession', body);
    const made = session(`made-${this.logs.size}`, { title: '' });
    this.logs.set(made.id, []);
    return made;
  }
  async session(id: string): Promise<Session> {
    return session(id);
  }
  async patchSession(id: string, body: { title?: string | null }) {
    this.note('patchSession', id, body);
    return session(id, {
      title: body.title ?? '',
      updated_at: '2026-11-22T10:00:00Z'
    });
  }
  async deleteSession(id: string): Promise<void> {
    this.note('deleteSession', id);
  }
  async undeleteSession(id: string): Promise<void> {
    this.note('undeleteSession', id);
  }
  async forkSession(id: string, body: ForkSession): Promise<Session> {
    this.note('forkSession', id, body);
    return session(`fork-of-${id}`);
  }
  async events(id: string, after: number): Promise<EventPage> {
    this.note('events', id, after);
    const log = this.logs.get(id) ?? [];
    const rest = log.filter(({ seq }) => seq > after);
    return {
      events: rest.slice(0, this.pageSize),
      last_seq: log.length,
      has_more: rest.length > this.pageSize
    };
  }
  async sendMessage(id: string, body: SendMessage): Promise<MessageAccepted> {
    this.note('sendMessage', id, body);
    return { turn_id: 't1', seq: 1 };
  }
  async editMessage(id: string, messageId: string, text: string) {
    this.note('editMessage', id, messageId, text);
  }
  async sendQueued(id: string, messageId: string): Promise<void> {
    this.note('sendQueued', id, messageId);
  }

  async removeMessage(id: string, messageId: string): Promise<void> {
    this.note('removeMessage', id, messageId);
  }
  async compact(id: string): Promise<void> {
    this.note('compact', id);
  }

  async cancel(id: string): Promise<void> {
    this.note('cancel', id);
  }
  async resume(id: string, body: ResumeTurn): Promise<void> {
    this.note('resume', id, body);
  }
  async answerApproval(id: string, callId: string, body: AnswerApproval) {
    this.note('answerApproval', id, callId, body);
  }
  async answerInput(id: string, callId: string, body: AnswerInput) {
    this.note('answerInput', id, callId, body);
  }

  async answerQuestion(id: string, callId: string, body: AnswerQuestion) {
    this.note('answerQuestion', id, callId, body);
  }
  async restore(id: string, body: RestoreSession): Promise<Restore> {
    this.note('restore', id, body);
    return {} as Restore; // Callers use the event instead.
  }

  async supplyResult(id: string, callId: string, body: SupplyResult) {
    this.note('supplyResult', id, callId, body);
  }
  async artifact(id: string, name: string): Promise<Blob> {
    this.note('artifact', id, name);
    return this.file;
  }
  async exportSession(id: string, format: string): Promise<Blob> {
    this.note('exportSession', id, format);
    return this.file;
  }
  async usage(): Promise<Usage> {
    // The page shows nothing else of it.
    return this.answer({ budget: this.budget } as Usage);
  }
  async putBudget(body: PutBudget): Promise<BudgetState> {
    this.note('putBudget', body);
    return this.budget;
  }
  async decideProposal(id: string, body: DecideProposal): Promise<void> {
    this.note('decideProposal', id, body);
  }
  async pendingEdits(): Promise<PendingEditList> {
    return this.answer({ edits: this.edits });
  }
  async decideEdit(id: string, body: DecideEdit): Promise<EditDecision> {
    this.note('decideEdit', id, body);
    return this.decided;
  }
  async decideEdits(body: DecideEdits): Promise<EditDecisions> {
    this.note('decideEdits', body);
    return this.allDecided;
  }
  async undoTurn(id: string, body: UndoTurn): Promise<Restore> {
    this.note('undoTurn', id, body);
    return {} as Restore; // Callers use the event instead.
  }

  async call<T>(method: string, path: string, body?: object): Promise<T> {
    this.note('call', method, path, body);
    return {} as T; // Unused in these tests.
  }

  async open(path: string): Promise<Response> {
    this.note('open', path);
    return new Response(null, { status: 204 });
  }

  private note(...asked: unknown[]): void {
    this.requests.push(asked);
    this.answer(null);
  }

  private answer<T>(value: T): T {
    const { failure } = this;
    this.failure = null;
    if (failure !== null) {
      throw failure;
    }
    return value;
  }
}

// Kept here, so that a test with fake timers waits, too.
const afterPromises = setImmediate;

/** Let all resolvable promises settle, imports of loaded modules among them; real time hardly passes. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) {
    await new Promise<void>(resolve => afterPromises(resolve));
  }
}
