/** Typed routes of the settings page, over the page's HTTP client. Created by the settings store. */

import type { IHttpClient } from '../../client/http';
import type {
  AuditPage,
  BudgetState,
  InstructionList,
  DetectedProvider,
  DetectProvider,
  ModelList,
  OperationsPage,
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
  ToolList,
  ServiceTest,
  Usage,
  WebServiceInfo,
  WebServiceList
} from '../../wire/generated';

import { accessTokensApi, type IAccessTokensApi } from './accessTokens';
import { notificationsApi, type INotificationsApi } from './notifications';
import { mcpServersApi, type IMcpServersApi } from './mcpServers';
import { memoryApi, type IMemoryApi } from './memory';

/** Which file is written: this workspace's, or the user's for all workspaces. */
export type Scope = 'workspace' | 'user';

/** Range and grouping of a usage query. */
export interface IUsageQuery {
  readonly by: Usage['by'];
  /** Days, both included. */
  readonly from: string;
  readonly to: string;
}

/** Each method rejects with an `ApiError`. */
export interface ISettingsApi {
  status(): Promise<Status>;
  settings(): Promise<Settings>;
  putSettings(body: PutSettings, scope: Scope): Promise<Settings>;
  models(): Promise<ModelList>;
  /** Store a key without a test. */
  setKey(provider: string, key: string): Promise<ProviderHealth>;
  /** Test a key, and store it unless it is refused. */
  tryKey(provider: string, key: string): Promise<SavedProvider>;
  removeKey(provider: string): Promise<ProviderHealth>;
  /** Find the vendor of a key, or the API at an address. */
  detect(body: DetectProvider): Promise<DetectedProvider>;
  /** A provider as defined in the user's models.json. */
  ownProvider(provider: string): Promise<OwnProvider>;
  /** Test a provider, and write it into that file unless it is refused. */
  putProvider(provider: string, body: PutProvider): Promise<SavedProvider>;
  removeProvider(provider: string): Promise<void>;
  /** Request the list of models, which is free. */
  check(provider: string): Promise<ProviderHealth>;
  /** Make one real call. */
  test(provider: string): Promise<ProviderTest>;
  tools(): Promise<ToolList>;
  putPermissions(body: PutPermissions): Promise<ToolList>;
  usage(query?: IUsageQuery): Promise<Usage>;
  putBudget(body: PutBudget): Promise<BudgetState>;
  instructions(): Promise<InstructionList>;
  /** What models were sent for the latest suggestions. */
  sentCompletions(): Promise<SentCompletions>;
  /** The state of the index of search and, with a path, whether that file is in it. */
  searchIndex(path?: string): Promise<SearchIndexStatus>;
  changeSearchIndex(body: PostSearchIndex): Promise<SearchIndexStatus>;
  /** The web services that tools use. */
  services(): Promise<WebServiceList>;
  /** Store a key; null removes it. */
  setServiceKey(service: string, key: string | null): Promise<WebServiceInfo>;
  /** Store the address of a service of one's own; null removes it. */
  setServiceAddress(
    service: string,
    address: string | null
  ): Promise<WebServiceInfo>;
  /** Ask a service something. */
  testService(service: string): Promise<ServiceTest>;
  readonly mcp: IMcpServersApi;
  readonly access: IAccessTokensApi;
  readonly notifications: INotificationsApi;
  readonly memory: IMemoryApi;
  audit(query: IPageQuery & { tool: string }): Promise<AuditPage>;
  operations(query: IPageQuery & { path: string }): Promise<OperationsPage>;
}

/** A page of a list; the first one without a cursor. */
export interface IPageQuery {
  readonly cursor: string | null;
}

const PAGE = '50';

/** The routes over HTTP. */
export function settingsApi(http: Pick<IHttpClient, 'call'>): ISettingsApi {
  const get = <T>(path: string): Promise<T> => http.call('GET', path);
  const provider = (id: string, what?: string): string =>
    `providers/${encodeURIComponent(id)}${what === undefined ? '' : `/${what}`}`;
  const service = (id: string, what: string): string =>
    `services/${encodeURIComponent(id)}/${what}`;
  return {
    status: () => get('status'),
    settings: () => get('settings'),
    putSettings: (body, scope) =>
      http.call('PUT', `settings?${words({ scope })}`, body),
    models: () => get('models'),
    setKey: (id, key) => http.call('PUT', provider(id, 'key'), { key }),
    tryKey: (id, key) => http.call('POST', provider(id, 'key'), { key }),
    detect: body => http.call('POST', 'providers/detect', body),
    ownProvider: id => get(provider(id)),
    putProvider: (id, body) => http.call('PUT', provider(id), body),
    removeProvider: id => http.call('DELETE', provider(id)),
    removeKey: id => http.call('DELETE', provider(id, 'key')),
    check: id => http.call('POST', provider(id, 'check')),
    test: id => http.call('POST', provider(id, 'test')),
    tools: () => get('tools'),
    putPermissions: body => http.call('PUT', 'tools/permissions', body),
    usage: query => get(`usage?${words({ ...query })}`),
    putBudget: body => http.call('PUT', 'budget', body),
    instructions: () => get('instructions'),
    sentCompletions: () => get('completions'),
    searchIndex: path =>
      get(
        path === undefined ? 'search/index' : `search/index?${words({ path })}`
      ),
    changeSearchIndex: body => http.call('POST', 'search/index', body),
    services: () => get('services'),
    setServiceKey: (id, key) => http.call('PUT', service(id, 'key'), { key }),
    setServiceAddress: (id, address) =>
      http.call('PUT', service(id, 'address'), { address }),
    testService: id => http.call('POST', service(id, 'test'), {}),
    mcp: mcpServersApi(http),
    access: accessTokensApi(http),
    notifications: notificationsApi(http),
    memory: memoryApi(http),
    audit: query => get(`audit?${words({ ...query, limit: PAGE })}`),
    operations: query => get(`operations?${words({ ...query, limit: PAGE })}`)
  };
}

function words(query: Record<string, string | null>): string {
  const given = Object.entries(query).filter(
    (entry): entry is [string, string] => entry[1] !== null && entry[1] !== ''
  );
  return new URLSearchParams(given).toString();
}
