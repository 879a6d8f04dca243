/**
 * Typed client of the HTTP API. One method per route; every failure is an `ApiError` with a message for the user.
 * Created by the client plugin, which passes JupyterLab's authenticated fetch.
 */

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
  ErrorBody,
  ErrorInfo,
  EventPage,
  ForkSession,
  MessageAccepted,
  ModelList,
  PatchSession,
  PendingEditList,
  ProviderTest,
  PutBudget,
  Restore,
  RestoreSession,
  ResumeTurn,
  SendMessage,
  Session,
  SessionList,
  Status,
  SupplyResult,
  UndoTurn,
  Usage
} from '../wire/generated';

/** Sends one authenticated request below the API's root. */
export type Fetch = (path: string, init: RequestInit) => Promise<Response>;

/** A failed request: what was tried, what happened and what to do are in `info`. */
export class ApiError extends Error {
  constructor(
    /** HTTP status; 0 without a response. */
    readonly status: number,
    readonly info: ErrorInfo
  ) {
    super(info.message);
    this.name = 'ApiError';
  }
}

/** Filters of the session list. */
export interface ISessionQuery {
  kind?: Session['kind'];
  source?: Session['source'];
  text?: string;
  document?: string;
  cursor?: string;
  limit?: number;
}

/** The routes this page uses. */
export interface IHttpClient {
  status(): Promise<Status>;
  models(): Promise<ModelList>;
  testProvider(id: string): Promise<ProviderTest>;
  setKey(id: string, key: string): Promise<void>;
  removeKey(id: string): Promise<void>;
  sessions(query?: ISessionQuery): Promise<SessionList>;
  createSession(body: CreateSession): Promise<Session>;
  session(id: string): Promise<Session>;
  patchSession(id: string, body: PatchSession): Promise<Session>;
  deleteSession(id: string): Promise<void>;
  undeleteSession(id: string): Promise<void>;
  /** Copy a conversation up to a message, by default to its last complete event. */
  forkSession(id: string, body: ForkSession): Promise<Session>;
  events(id: string, after: number, limit?: number): Promise<EventPage>;
  sendMessage(id: string, body: SendMessage): Promise<MessageAccepted>;
  editMessage(id: string, messageId: string, text: string): Promise<void>;
  removeMessage(id: string, messageId: string): Promise<void>;
  /** Start a turn with a queued message and those queued with it. */
  sendQueued(id: string, messageId: string): Promise<void>;
  cancel(id: string): Promise<void>;
  compact(id: string): Promise<void>;
  resume(id: string, body: ResumeTurn): Promise<void>;
  answerApproval(
    id: string,
    callId: string,
    body: AnswerApproval
  ): Promise<void>;
  answerQuestion(
    id: string,
    callId: string,
    body: AnswerQuestion
  ): Promise<void>;
  restore(id: string, body: RestoreSession): Promise<Restore>;
  answerInput(id: string, callId: string, body: AnswerInput): Promise<void>;
  supplyResult(id: string, callId: string, body: SupplyResult): Promise<void>;
  decideProposal(id: string, body: DecideProposal): Promise<void>;
  /** Changes of the agent that wait for review. */
  pendingEdits(): Promise<PendingEditList>;
  decideEdit(id: string, body: DecideEdit): Promise<EditDecision>;
  decideEdits(body: DecideEdits): Promise<EditDecisions>;
  /** Undo a turn's changes to notebooks and files. */
  undoTurn(id: string, body: UndoTurn): Promise<Restore>;
  /** A file the agent shared into a conversation. */
  artifact(id: string, name: string): Promise<Blob>;
  /** The whole conversation as a file. */
  exportSession(id: string, format: ExportFormat): Promise<Blob>;
  usage(): Promise<Usage>;
  putBudget(body: PutBudget): Promise<BudgetState>;
  /** Any other route, by its path below the API's root; for parts that are loaded later. */
  call<T>(method: string, path: string, body?: object): Promise<T>;
  /** The raw response, to be read as a stream; throws on an error status. */
  open(path: string, init: RequestInit): Promise<Response>;
}

/** Export formats of a conversation. */
export type ExportFormat = 'md' | 'jsonl' | 'ipynb';

export class HttpClient implements IHttpClient {
  constructor(private readonly fetch: Fetch) {}

  status(): Promise<Status> {
    return this.get('status');
  }

  models(): Promise<ModelList> {
    return this.get('models');
  }

  testProvider(id: string): Promise<ProviderTest> {
    return this.send('POST', `providers/${encode(id)}/test`);
  }

  setKey(id: string, key: string): Promise<void> {
    return this.send('PUT', `providers/${encode(id)}/key`, { key });
  }

  removeKey(id: string): Promise<void> {
    return this.send('DELETE', `providers/${encode(id)}/key`);
  }

  sessions(query: ISessionQuery = {}): Promise<SessionList> {
    return this.get(`sessions${search({ ...query })}`);
  }

  createSession(body: CreateSession): Promise<Session> {
    return this.send('POST', 'sessions', body);
  }

  session(id: string): Promise<Session> {
    return this.get(sessionPath(id));
  }

  patchSession(id: string, body: PatchSession): Promise<Session> {
    return this.send('PATCH', sessionPath(id), body);
  }

  deleteSession(id: string): Promise<void> {
    return this.send('DELETE', sessionPath(id));
  }

  undeleteSession(id: string): Promise<void> {
    return this.send('POST', sessionPath(id, 'undelete'));
  }

  forkSession(id: string, body: ForkSession): Promise<Session> {
    return this.send('POST', sessionPath(id, 'fork'), body);
  }

  events(id: string, after: number, limit?: number): Promise<EventPage> {
    return this.get(`${sessionPath(id, 'events')}${search({ after, limit })}`);
  }

  sendMessage(id: string, body: SendMessage): Promise<MessageAccepted> {
    return this.send('POST', sessionPath(id, 'messages'), body);
  }

  editMessage(id: string, messageId: string, text: string): Promise<void> {
    return this.send('PATCH', sessionPath(id, 'messages', messageId), { text });
  }

  removeMessage(id: string, messageId: string): Promise<void> {
    return this.send('DELETE', sessionPath(id, 'messages', messageId));
  }

  sendQueued(id: string, messageId: string): Promise<void> {
    return this.send('POST', sessionPath(id, 'messages', messageId));
  }

  cancel(id: string): Promise<void> {
    return this.send('POST', sessionPath(id, 'cancel'));
  }

  compact(id: string): Promise<void> {
    return this.send('POST', sessionPath(id, 'compact'));
  }

  resume(id: string, body: ResumeTurn): Promise<void> {
    return this.send('POST', sessionPath(id, 'resume'), body);
  }

  answerApproval(
    id: string,
    callId: string,
    body: AnswerApproval
  ): Promise<void> {
    return this.send('POST', sessionPath(id, 'approvals', callId), body);
  }

  answerQuestion(
    id: string,
    callId: string,
    body: AnswerQuestion
  ): Promise<void> {
    return this.send('POST', sessionPath(id, 'clarifications', callId), body);
  }

  restore(id: string, body: RestoreSession): Promise<Restore> {
    return this.send('POST', sessionPath(id, 'restore'), body);
  }

  answerInput(id: string, callId: string, body: AnswerInput): Promise<void> {
    return this.send('POST', sessionPath(id, 'stdin', callId), body);
  }

  supplyResult(id: string, callId: string, body: SupplyResult): Promise<void> {
    return this.send('POST', sessionPath(id, 'tool-results', callId), body);
  }

  decideProposal(id: string, body: DecideProposal): Promise<void> {
    return this.send('POST', `proposals/${encode(id)}`, body);
  }

  pendingEdits(): Promise<PendingEditList> {
    return this.get(`edits${search({ status: 'pending' })}`);
  }

  decideEdit(id: string, body: DecideEdit): Promise<EditDecision> {
    return this.send('POST', `edits/${encode(id)}`, body);
  }

  decideEdits(body: DecideEdits): Promise<EditDecisions> {
    return this.send('POST', 'edits', body);
  }

  undoTurn(id: string, body: UndoTurn): Promise<Restore> {
    return this.send('POST', sessionPath(id, 'undo'), body);
  }

  artifact(id: string, name: string): Promise<Blob> {
    return this.download(`artifacts/${encode(id)}/${encode(name)}`);
  }

  exportSession(id: string, format: ExportFormat): Promise<Blob> {
    return this.download(`${sessionPath(id, 'export')}${search({ format })}`);
  }

  usage(): Promise<Usage> {
    return this.get('usage');
  }

  putBudget(body: PutBudget): Promise<BudgetState> {
    return this.send('PUT', 'budget', body);
  }

  call<T>(method: string, path: string, body?: object): Promise<T> {
    return this.send(method, path, body);
  }

  open(path: string, init: RequestInit): Promise<Response> {
    return this.answer(path, init);
  }

  private get<T>(path: string): Promise<T> {
    return this.request(path, { method: 'GET' });
  }

  private send<T>(method: string, path: string, body?: object): Promise<T> {
    return this.request(path, {
      method,
      headers: { 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    });
  }

  private async download(path: string): Promise<Blob> {
    const response = await this.answer(path, { method: 'GET' });
    return response.blob();
  }

  private async request<T>(path: string, init: RequestInit): Promise<T> {
    const response = await this.answer(path, init);
    const text = await response.text();
    // The server validates responses against the schema of `generated.ts`.
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  /** Return the response; throws on an error status. */
  private async answer(path: string, init: RequestInit): Promise<Response> {
    const response = await this.fetch(path, init).catch((error: unknown) => {
      throw new ApiError(0, unreachable(error));
    });
    if (!response.ok) {
      const text = await response.text();
      throw new ApiError(response.status, errorInfo(response, text));
    }
    return response;
  }
}

/** The message to show for anything that was thrown. */
export function infoOf(error: unknown): ErrorInfo {
  return error instanceof ApiError ? error.info : unreachable(error);
}

const encode = encodeURIComponent;

function sessionPath(id: string, ...rest: string[]): string {
  return ['sessions', id, ...rest].map(encode).join('/');
}

function search(query: Record<string, string | number | undefined>): string {
  const entries = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]]
  );
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`;
}

function errorInfo(response: Response, text: string): ErrorInfo {
  const body = parseObject(text);
  if (isErrorBody(body)) {
    return body.error;
  }
  const reason =
    'message' in body && typeof body.message === 'string' ? body.message : '';
  return plainError(
    reason || `The server answered ${response.status} ${response.statusText}.`,
    response.status >= 500
  );
}

function unreachable(error: unknown): ErrorInfo {
  const detail = error instanceof Error ? ` (${error.message})` : '';
  return {
    ...plainError(`The Jupyter server did not answer${detail}.`, true),
    hint: 'Check that the server is running and the network is up, then try again.'
  };
}

/** An error with this message. */
export function plainError(
  message: string,
  retryable: boolean,
  code: ErrorInfo['code'] = 'internal'
): ErrorInfo {
  return {
    code,
    message,
    hint: null,
    retryable,
    details: null,
    provider: null,
    model: null,
    request_id: null
  };
}

function parseObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {}; // For example a proxy's HTML page; only the status line is useful.
  }
}

function isErrorBody(body: object): body is ErrorBody {
  return (
    'error' in body && typeof body.error === 'object' && body.error !== null
  );
}
