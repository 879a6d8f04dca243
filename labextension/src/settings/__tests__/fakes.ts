/** A settings server in memory that, like the real one, refuses changes made from an older state. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { ApiError } from '../../client/http';
import { model, noBudget, problem, status } from '../../model/__tests__/fakes';
import { FakeFolder } from '../../trust/__tests__/fakes';
import type {
  BudgetState,
  ErrorInfo,
  InstructionFile,
  InstructionList,
  DetectedProvider,
  DetectProvider,
  ModelList,
  OwnProvider,
  PostSearchIndex,
  ProviderHealth,
  ProviderTest,
  PutBudget,
  PutPermissions,
  PutProvider,
  PutSettings,
  SavedProvider,
  SearchIndexStatus,
  SentCompletions,
  Settings,
  Status,
  ToolInfo,
  ToolList,
  ServiceTest,
  WebServiceInfo,
  WebServiceList,
  Usage,
  UsageRow,
  WebhookStatus
} from '../../wire/generated';
import type { INotificationsApi } from '../store/notifications';
import type { ISettingsApi, IUsageQuery, Scope } from '../store/api';
import type { Area } from '../store/settingsStore';
import { FakeAccessTokens } from './fakeAccess';
import { FakeMemory } from './fakeMemory';
import { FakeMcpServers } from './fakeMcp';

const fill = (text: string, args: unknown[]): string =>
  text.replace(/%(\d)/g, (_, index: string) => String(args[Number(index) - 1]));

/** The members that the views use. */
export const trans = {
  __: (text: string, ...args: unknown[]) => fill(text, args),
  _n: (one: string, many: string, n: number, ...args: unknown[]) =>
    fill(n === 1 ? one : many, [n, ...args])
} as unknown as TranslationBundle;

export function provider(
  id: string,
  change: Partial<ProviderHealth> = {}
): ProviderHealth {
  return {
    id,
    name: `Name of ${id}`,
    kind: 'anthropic',
    key_set: false,
    key_last4: null,
    key_source: 'none',
    key_name: `${id.toUpperCase()}_API_KEY`,
    needs_key: true,
    host: `api.${id}.example`,
    local: false,
    state: 'no_key',
    error: null,
    custom: false,
    ...change
  };
}

export function tool(name: string, change: Partial<ToolInfo> = {}): ToolInfo {
  return {
    name,
    category: 'notebook',
    description: `Does ${name}. More for models.`,
    risk: 'read',
    external: false,
    sandboxed: null,
    enabled: true,
    off_because: null,
    parameters: {},
    ...change
  };
}

export function row(key: string, change: Partial<UsageRow> = {}): UsageRow {
  return {
    key,
    provider: null,
    calls: 2,
    ok: 2,
    success_rate: 1,
    estimated: 0,
    input_tokens: 1000,
    output_tokens: 100,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    known_cost_micro_usd: 2_000_000,
    unknown_cost_calls: 0,
    ...change
  };
}

const SETTINGS: Settings = {
  values: {
    models: {
      mode: 'auto',
      fallback: 'local',
      single_call_timeout_s: 30,
      single_call_max_tokens: 4000,
      default: '',
      ollama_host: 'http://127.0.0.1:11434'
    },
    egress: { data_values: 'schema_only' },
    commands: { mode: 'sandbox', network: false },
    ghost: { enabled_plus: true, automatic: false, skip_languages: [] },
    threads: { keep_in_notebook: false },
    memory: { enabled: true },
    agent_database: { enabled: false, limit_mb: 100 },
    search: {
      enabled: true,
      conversations: true,
      include: [],
      exclude: [],
      by_meaning: true,
      embedder: '',
      send_to: ''
    },
    references: {
      main_file: 'references.bib',
      key_pattern: 'authoryearword',
      citation_syntax: 'myst',
      style: 'apa'
    },
    word: { tracked_changes: true },
    schedules: {
      agent: false,
      shortest_interval_s: 900,
      most_schedules: 20,
      runs_per_day: 48,
      usd_per_day: 1,
      most_concurrent: 2,
      longest_agent_days: 7,
      largest_toolset: 'full',
      quiet_hours: '',
      poll_files: false
    },
    notifications: { agent: false, browser: false, webhook: '' }
  },
  sources: {},
  locks: {},
  problems: [],
  revision: 'r0'
};

const TEST: ProviderTest = {
  ok: true,
  model: 'acme/big',
  duration_ms: 1200,
  first_delta_ms: 300,
  stream_ok: true,
  tool_call_ok: true,
  error: null
};

const SAVED: SavedProvider = { stored: true, provider: null, test: TEST };

const FOUND: DetectedProvider = {
  id: 'local-8000',
  name: '127.0.0.1:8000',
  kind: 'openai_chat',
  url: 'http://127.0.0.1:8000/v1',
  known: false,
  needs_key: false,
  lists_models: true,
  models: [
    { name: 'big', context_window: null },
    { name: 'small', context_window: null }
  ]
};

const OWN: OwnProvider = {
  id: 'lab',
  name: 'Lab',
  kind: 'openai_chat',
  url: 'http://lab.example/v1',
  auth: '',
  headers: { 'X-Team': 'physics' },
  list_models: false,
  models: ['old']
};

/** The response for a refused key or server. */
export const REFUSED: SavedProvider = {
  stored: false,
  provider: null,
  test: {
    ...TEST,
    ok: false,
    stream_ok: false,
    tool_call_ok: false,
    error: { ...problem, message: 'The key was not accepted.' }
  }
};

export { FOUND, OWN };

/** A webhook without an address. */
class FakeNotifications implements INotificationsApi {
  status: WebhookStatus = {
    host: null,
    has_secret: false,
    secret_last4: null,
    queued: 0,
    failed: 0,
    last_error: null
  };

  webhook = (): Promise<WebhookStatus> => Promise.resolve(this.status);
  setSecret = this.webhook;
  test = this.webhook;
}

/** The server; `fail` makes the next request fail. */
export class FakeApi implements ISettingsApi {
  readonly asked: unknown[][] = [];
  held: Settings = SETTINGS;
  list: ToolList = {
    tools: [tool('read_notebook'), tool('run_cell', { risk: 'execute' })],
    disabled: [],
    disable_external: false,
    rules: [],
    problems: [],
    revision: 'r0'
  };
  budget: BudgetState = noBudget;
  catalogue: ModelList = {
    models: [model('demo/demo')],
    default: 'demo/demo',
    default_set: false,
    default_is_stand_in: false,
    single_calls: [],
    providers: [provider('acme')],
    problems: []
  };
  result: ProviderTest = TEST;
  rows: UsageRow[] = [];
  /** What the usage of tools has. */
  worked: Partial<Usage> = {};
  sent: SentCompletions = { requests: [] };
  files: InstructionFile[] = [];
  readonly folder = new FakeFolder();
  readonly mcp = new FakeMcpServers();
  readonly access = new FakeAccessTokens();
  readonly notifications = new FakeNotifications();
  readonly memory = new FakeMemory();

  fail(info: Partial<ErrorInfo> = {}): void {
    this.failure = new ApiError(500, { ...problem, ...info });
  }

  /** Store a change of another page without notifying this one. */
  elsewhere<K extends 'held' | 'list' | 'budget'>(
    what: K,
    change: Partial<this[K]>
  ): void {
    this[what] = { ...this[what], ...change, revision: this.next() };
  }

  async status(): Promise<Status> {
    return this.answer(status);
  }
  async settings(): Promise<Settings> {
    return this.answer(this.held);
  }
  async putSettings(body: PutSettings, scope: Scope): Promise<Settings> {
    this.note('putSettings', body, scope);
    refuseStale(body.revision, this.held.revision);
    // The server's own tests check what the page sends.
    const values = Object.fromEntries(
      Object.entries(this.held.values).map(([area, held]) => [
        area,
        { ...held, ...body[area as Area] }
      ])
    ) as unknown as Settings['values'];
    this.held = { ...this.held, values, revision: this.next() };
    return this.held;
  }
  async models(): Promise<ModelList> {
    return this.answer(this.catalogue);
  }
  async setKey(id: string, key: string): Promise<ProviderHealth> {
    this.note('setKey', id, key);
    return this.know({
      key_set: true,
      key_last4: key.slice(-4),
      key_source: 'file',
      state: 'unknown'
    });
  }
  /** The result of the next save. */
  saved: SavedProvider | null = null;
  async tryKey(id: string, key: string): Promise<SavedProvider> {
    this.note('tryKey', id, key);
    const outcome = this.answer(this.saved ?? SAVED);
    if (outcome.stored) {
      this.know({
        key_set: true,
        key_last4: key.slice(-4),
        key_source: 'file',
        state: 'ok'
      });
    }
    return outcome;
  }
  found: DetectedProvider | null = null;
  async detect(body: DetectProvider): Promise<DetectedProvider> {
    this.note('detect', body);
    return this.answer(this.found ?? FOUND);
  }
  async ownProvider(id: string): Promise<OwnProvider> {
    this.note('ownProvider', id);
    return this.answer({ ...OWN, id });
  }
  async putProvider(id: string, body: PutProvider): Promise<SavedProvider> {
    this.note('putProvider', id, body);
    return this.answer(this.saved ?? SAVED);
  }
  async removeProvider(id: string): Promise<void> {
    this.note('removeProvider', id);
    this.answer(null);
  }
  async removeKey(id: string): Promise<ProviderHealth> {
    this.note('removeKey', id);
    return this.know({ key_set: false, key_source: 'none', state: 'no_key' });
  }
  async check(id: string): Promise<ProviderHealth> {
    this.note('check', id);
    return this.know({ state: 'ok' });
  }
  async test(id: string): Promise<ProviderTest> {
    this.note('test', id);
    return this.result;
  }
  async tools(): Promise<ToolList> {
    return this.answer(this.list);
  }
  async putPermissions(body: PutPermissions): Promise<ToolList> {
    this.note('putPermissions', body);
    refuseStale(body.revision, this.list.revision);
    const { disabled, rules, disable_external } = body;
    this.list = {
      ...this.list,
      disabled,
      disable_external,
      rules: rules.map(rule => ({
        ...rule,
        problem: null,
        line: null,
        locked: false,
        applies: true,
        note: null
      })),
      tools: this.list.tools.map(each => {
        const isOff = disabled.includes(each.name);
        return {
          ...each,
          enabled: !isOff,
          off_because: isOff ? 'disabled' : null
        };
      }),
      revision: this.next()
    };
    return this.list;
  }
  async usage(query?: IUsageQuery): Promise<Usage> {
    const asked: Partial<IUsageQuery> = query ?? {};
    const isOfTools = asked.by === 'tool';
    return this.answer({
      first_day: asked.from ?? '2026-11-01',
      last_day: asked.to ?? '2026-11-22',
      by: asked.by ?? 'day',
      rows: isOfTools ? [] : this.rows,
      total: row(''),
      tools: [],
      steps: null,
      turns: null,
      first_output: null,
      failures: [],
      budget: this.budget,
      error: null,
      ...(isOfTools ? this.worked : {})
    });
  }
  async putBudget(body: PutBudget): Promise<BudgetState> {
    this.note('putBudget', body);
    refuseStale(body.revision, this.budget.revision);
    const given: Record<string, unknown> = { ...body };
    this.budget = {
      ...this.budget,
      revision: this.next(),
      limits: this.budget.limits.map(limit => {
        const amount = given[`${limit.scope}_micro_usd`];
        return {
          ...limit,
          user_micro_usd: typeof amount === 'number' ? amount : null
        };
      })
    };
    return this.budget;
  }
  async sentCompletions(): Promise<SentCompletions> {
    return this.answer(this.sent);
  }
  async instructions(): Promise<InstructionList> {
    return this.answer({ files: this.files, skills: 1, problems: [] });
  }
  index: SearchIndexStatus = {
    state: 'ready',
    files: 12,
    conversations: 0,
    chunks: 340,
    behind: 0,
    bytes: 2_500_000,
    problems: [],
    meaning: null,
    file: null
  };
  async searchIndex(path?: string): Promise<SearchIndexStatus> {
    const file =
      path === undefined
        ? null
        : { path, chunks: 0, reason: 'Git ignores it.' };
    return this.answer({ ...this.index, file });
  }
  webServices: WebServiceList = {
    services: [
      webService({
        id: 'tavily',
        title: 'Tavily',
        key_variable: 'TAVILY_API_KEY'
      }),
      webService({
        id: 'searxng',
        title: 'SearXNG',
        address: '',
        address_editable: true
      }),
      webService({ id: 'crossref', title: 'Crossref', kinds: ['papers'] })
    ],
    disabled: null
  };
  async services(): Promise<WebServiceList> {
    return this.answer(this.webServices);
  }
  async setServiceKey(id: string, key: string | null): Promise<WebServiceInfo> {
    this.note('setServiceKey', { id, key });
    return this.changeService(id, {
      key_source: key === null ? null : 'file',
      key_last4: key === null ? null : key.slice(-4)
    });
  }
  async setServiceAddress(
    id: string,
    address: string | null
  ): Promise<WebServiceInfo> {
    this.note('setServiceAddress', { id, address });
    return this.changeService(id, { address: address ?? '' });
  }
  async testService(id: string): Promise<ServiceTest> {
    this.note('testService', { id });
    return this.answer({ ok: true, message: `${id} answers.`, hint: null });
  }
  private changeService(
    id: string,
    change: Partial<WebServiceInfo>
  ): WebServiceInfo {
    const found = this.webServices.services.find(each => each.id === id);
    const changed = { ...webService({}), ...found, ...change };
    const services = this.webServices.services.map(each =>
      each.id === id ? changed : each
    );
    this.webServices = { ...this.webServices, services };
    return changed;
  }
  async changeSearchIndex(body: PostSearchIndex): Promise<SearchIndexStatus> {
    this.note('changeSearchIndex', body);
    const state = body.action === 'pause' ? 'paused' : 'building';
    this.index = { ...this.index, state };
    return this.index;
  }
  async audit() {
    return this.answer({ entries: [], next_cursor: null });
  }
  async operations() {
    return this.answer({ operations: [], next_cursor: null });
  }

  private know(change: Partial<ProviderHealth>): ProviderHealth {
    const { providers } = this.catalogue;
    const before = providers.find(({ id }) => id === 'acme');
    const known = { ...(before ?? provider('acme')), ...change };
    this.catalogue = {
      ...this.catalogue,
      providers: providers.map(each => (each === before ? known : each))
    };
    return known;
  }

  private next(): string {
    return `r${++this.revisions}`;
  }

  private note(...asked: unknown[]): void {
    this.asked.push(asked);
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

  private failure: ApiError | null = null;
  private revisions = 0;
}

function refuseStale(
  seen: string | null | undefined,
  now: string | null
): void {
  if (seen !== undefined && seen !== now) {
    throw new ApiError(409, { ...problem, code: 'stale' });
  }
}

/** A web service that takes no key. */
export function webService(fields: Partial<WebServiceInfo>): WebServiceInfo {
  return {
    id: 'service',
    title: 'Service',
    purpose: 'Search of the web.',
    kinds: ['web_search'],
    key_variable: null,
    key_required: fields.key_variable !== undefined,
    key_source: null,
    key_last4: null,
    key_url: null,
    address: 'https://api.example.org',
    address_editable: false,
    address_locked: false,
    ...fields
  };
}
