/**
 * State and changes of the settings page. The socket reports changes of other pages and programs. Nothing is stored
 * over a value this page has not shown: the server refuses changes made from an older state, which are then repeated on
 * the newer one or put to the user. Created by the settings plugin; lives with the page.
 */

import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import { ApiError } from '../../client/http';
import type { IPageSocket } from '../../client/socket';
import { sessionsIn } from '../../model/sessions/sessionHistory';
import type { IFolderTrust } from '../../host/folderTrust';
import type {
  BudgetState,
  Event,
  InstructionList,
  Json,
  ModelList,
  PostSearchIndex,
  ProviderHealth,
  ProviderTest,
  PutProvider,
  SavedProvider,
  SearchIndexStatus,
  SentCompletions,
  ServerFrame,
  Session,
  Settings,
  Status,
  ToolList,
  WebServiceInfo,
  WebServiceList
} from '../../wire/generated';
import { AccessTokensStore } from './accessTokens';
import { NotificationsStore } from './notifications';
import type { ISettingsApi, Scope } from './api';
import { changedElsewhere } from './conflict';
import { Drafts, same } from './drafts';
import { McpServersStore } from './mcpServers';
import { MemoryStore } from './memory';
import { bodyOf, type PermissionChange } from './permissions';
import { Resource, valueOf } from '../../client/resource';

type SettingsPart = Extract<ServerFrame, { type: 'settings-update' }>['part'];
export type LimitScope = BudgetState['limits'][number]['scope'];
export type Area =
  | 'models'
  | 'egress'
  | 'commands'
  | 'threads'
  | 'ghost'
  | 'search'
  | 'word'
  | 'memory'
  | 'agent_database'
  | 'notifications'
  | 'schedules';

/** How often a change is repeated on a newer state before giving up. */
const TRIES = 4;
/** Delay after a turn before its cost is requested, in ms. */
const SETTLE_MS = 500;

/** The state of the settings page. */
export class SettingsStore implements IDisposable {
  constructor(
    readonly api: ISettingsApi,
    private readonly socket: Pick<
      IPageSocket,
      'eventsReceived' | 'frameReceived' | 'opened'
    >,
    readonly folderTrust: IFolderTrust
  ) {
    this.status = new Resource(() => api.status());
    this.settings = new Resource(() => api.settings());
    this.models = new Resource(() => api.models());
    this.tools = new Resource(() => api.tools());
    this.budget = new Resource(async () => (await api.usage()).budget);
    this.instructions = new Resource(() => api.instructions());
    this.sent = new Resource(() => api.sentCompletions());
    this.searchIndex = new Resource(() => api.searchIndex());
    this.services = new Resource(() => api.services());
    this.mcp = new McpServersStore(api.mcp);
    this.access = new AccessTokensStore(api.access);
    this.notifications = new NotificationsStore(api.notifications);
    this.memory = new MemoryStore(api.memory);
    socket.frameReceived.connect(this.onFrame);
    socket.eventsReceived.connect(this.onEvents);
    socket.opened.connect(this.refresh);
  }

  readonly status: Resource<Status>;
  readonly settings: Resource<Settings>;
  readonly models: Resource<ModelList>;
  readonly tools: Resource<ToolList>;
  readonly budget: Resource<BudgetState>;
  readonly instructions: Resource<InstructionList>;
  /** What models were sent for the latest suggestions. */
  readonly sent: Resource<SentCompletions>;
  readonly searchIndex: Resource<SearchIndexStatus>;
  /** The web services that tools use. */
  readonly services: Resource<WebServiceList>;
  readonly mcp: McpServersStore;
  readonly access: AccessTokensStore;
  readonly notifications: NotificationsStore;
  readonly memory: MemoryStore;
  readonly drafts = new Drafts();
  /** Emitted after a turn, which may have cost something. */
  readonly usageChanged = new Signal<this, void>(this);

  get isDisposed(): boolean {
    return this.disposed;
  }

  dispose(): void {
    this.disposed = true;
    clearTimeout(this.timer);
    this.socket.frameReceived.disconnect(this.onFrame);
    this.socket.eventsReceived.disconnect(this.onEvents);
    this.socket.opened.disconnect(this.refresh);
  }

  /** Read everything again that was read, after a disconnection or when the page is shown again. */
  readonly refresh = (): void => {
    for (const resource of this.all) {
      void resource.refresh();
    }
  };

  /** Store one preference if the stored value is the one the user saw. */
  async putSetting(
    area: Area,
    key: string,
    value: Json,
    base: Json,
    scope: Scope
  ): Promise<void> {
    await this.retryOnConflict(async () => {
      const seen = await valueOf(this.settings);
      if (!same(settingOf(seen, area, key), base)) {
        throw changedElsewhere();
      }
      const body = { [area]: { [key]: value }, revision: seen.revision };
      this.settings.set(await this.api.putSettings(body, scope));
    }, this.settings);
  }

  /** Change the current permissions. */
  async changePermissions(change: PermissionChange): Promise<void> {
    await this.retryOnConflict(async () => {
      const body = change(bodyOf(await valueOf(this.tools)));
      if (body !== null) {
        this.tools.set(await this.api.putPermissions(body));
      }
    }, this.tools);
  }

  /** Store one limit, in micro-dollars; the others stay. */
  async putLimit(
    scope: LimitScope,
    limit: number | null,
    base: number | null
  ): Promise<void> {
    await this.retryOnConflict(async () => {
      const { limits, revision } = await valueOf(this.budget);
      const held = Object.fromEntries(
        limits.map(each => [each.scope, each.user_micro_usd])
      );
      // Unreadable limits are overwritten.
      if (revision !== null && held[scope] !== base) {
        throw changedElsewhere();
      }
      const wanted = { ...held, [scope]: limit };
      const body = Object.fromEntries(
        Object.entries(wanted).map(([name, amount]) => [
          `${name}_micro_usd`,
          amount
        ])
      );
      this.budget.set(await this.api.putBudget({ ...body, revision }));
    }, this.budget);
  }

  /** Rebuild, pause, resume or clear the index of search. */
  async changeSearchIndex(action: PostSearchIndex['action']): Promise<void> {
    this.searchIndex.set(await this.api.changeSearchIndex({ action }));
  }

  async setKey(provider: string, key: string): Promise<void> {
    this.updateHealth(await this.api.setKey(provider, key));
    void this.models.refresh();
  }

  /** Test a key; stored unless it is refused. */
  async tryKey(provider: string, key: string): Promise<SavedProvider> {
    return this.saved(await this.api.tryKey(provider, key));
  }

  /** Test a provider and add it to the user's file unless it is refused. */
  async putProvider(
    provider: string,
    body: PutProvider
  ): Promise<SavedProvider> {
    return this.saved(await this.api.putProvider(provider, body));
  }

  async removeProvider(provider: string): Promise<void> {
    await this.api.removeProvider(provider);
    await this.models.refresh();
  }

  async removeKey(provider: string): Promise<void> {
    this.updateHealth(await this.api.removeKey(provider));
    void this.models.refresh();
  }

  /** Check a provider of unknown health. */
  async check(provider: string): Promise<void> {
    this.updateHealth(await this.api.check(provider));
  }

  /** Make one real call; its result counts as the provider's health. */
  async test(provider: string): Promise<ProviderTest> {
    const result = await this.api.test(provider);
    void this.models.refresh();
    return result;
  }

  /** Run a change, repeating it on the newer state when the server refuses an older one. */
  private async retryOnConflict<T>(
    act: () => Promise<void>,
    resource: Resource<T>
  ): Promise<void> {
    for (let left = TRIES; ; left--) {
      try {
        await act();
        return;
      } catch (error) {
        if (!isStale(error) || left === 1) {
          throw error;
        }
        await resource.load();
      }
    }
  }

  private async saved(saved: SavedProvider): Promise<SavedProvider> {
    if (saved.stored) {
      await this.models.refresh();
    }
    return saved;
  }

  /** Store the key of a web service; null removes it. */
  async setServiceKey(id: string, key: string | null): Promise<void> {
    this.updateService(await this.api.setServiceKey(id, key));
  }

  /** Store the address of a service of the user's own; null removes it. */
  async setServiceAddress(id: string, address: string | null): Promise<void> {
    this.updateService(await this.api.setServiceAddress(id, address));
  }

  private updateService(service: WebServiceInfo): void {
    const { value } = this.services;
    if (value !== null) {
      const services = value.services.map(each =>
        each.id === service.id ? service : each
      );
      this.services.set({ ...value, services });
    }
  }

  private updateHealth(health: ProviderHealth): void {
    const { value } = this.models;
    if (value !== null) {
      const providers = value.providers.map(each =>
        each.id === health.id ? health : each
      );
      this.models.set({ ...value, providers });
    }
  }

  private readonly onFrame = (_: unknown, frame: ServerFrame): void => {
    if (frame.type === 'tools-update') {
      void this.tools.refresh();
      void this.services.refresh(); // The switch for external tools.
    } else if (frame.type === 'settings-update') {
      const { part } = frame;
      if (part === 'schedules' || part === 'notifications') {
        return; // Not among these settings.
      }
      const own = this.ownResourceOf(part);
      if (own !== null) {
        void own.refresh();
        return;
      }
      if (part === 'settings') {
        void this.settings.refresh();
      } else if (part === 'trust') {
        void this.instructions.refresh();
        void this.mcp.list.refresh();
      }
      void (part === 'budget' ? this.budget : this.models).refresh();
    }
  };

  /** The resource that a change of this part touches, and no other. */
  private ownResourceOf(
    part: Exclude<SettingsPart, 'schedules' | 'notifications'>
  ): { refresh(): Promise<void> } | null {
    switch (part) {
      case 'state':
        return this.status;
      case 'search':
        return this.searchIndex;
      case 'services':
        return this.services;
      case 'mcp':
        return this.mcp.list;
      case 'memory':
        return this.memory.view;
      case 'settings':
      case 'providers':
      case 'budget':
      case 'trust':
        return null;
    }
  }

  private readonly onEvents = (_: unknown, events: readonly Event[]): void => {
    if (!sessionsIn(events).every(isBusy)) {
      clearTimeout(this.timer); // Usage is recorded shortly after the turn.
      this.timer = setTimeout(() => {
        this.usageChanged.emit();
        void this.budget.refresh();
      }, SETTLE_MS);
    }
  };

  private get all(): Resource<unknown>[] {
    return [
      this.status,
      this.settings,
      this.models,
      this.tools,
      this.budget,
      this.instructions,
      this.sent,
      this.searchIndex,
      this.services,
      this.mcp.list,
      this.access.list,
      this.notifications.webhook,
      this.memory.view,
      this.folderTrust.view
    ] as Resource<unknown>[]; // Read only; the value types do not matter here.
  }

  private disposed = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
}

/** The value of a preference in effect. */
export function settingOf({ values }: Settings, area: Area, key: string): Json {
  const found: Record<string, Json> = { ...values[area] };
  return found[key] ?? null;
}

function isStale(error: unknown): boolean {
  return error instanceof ApiError && error.info.code === 'stale';
}

function isBusy({ status }: Session): boolean {
  return status === 'running';
}
