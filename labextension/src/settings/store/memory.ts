/** The statements that conversations begin with, and their routes. The store is part of `SettingsStore`. */

import type { IHttpClient } from '../../client/http';
import { Resource } from '../../client/resource';
import type {
  MemoryChange,
  MemoryView,
  OperationUndone,
  PostMemory
} from '../../wire/generated';

/** Each method rejects with an `ApiError`. */
export interface IMemoryApi {
  memory(): Promise<MemoryView>;
  /** Add a statement; one that it repeats or contradicts is replaced. */
  add(body: PostMemory): Promise<MemoryChange>;
  edit(id: string, text: string): Promise<MemoryChange>;
  remove(id: string): Promise<MemoryChange>;
  undo(operation: string): Promise<OperationUndone>;
}

/** The routes over HTTP. */
export function memoryApi(http: Pick<IHttpClient, 'call'>): IMemoryApi {
  const statement = (id: string): string => `memory/${encodeURIComponent(id)}`;
  return {
    memory: () => http.call('GET', 'memory'),
    add: body => http.call('POST', 'memory', body),
    edit: (id, text) => http.call('PATCH', statement(id), { text }),
    remove: id => http.call('DELETE', statement(id)),
    undo: operation =>
      http.call('POST', `operations/${encodeURIComponent(operation)}/undo`)
  };
}

export class MemoryStore {
  constructor(private readonly api: IMemoryApi) {
    this.view = new Resource(() => api.memory());
  }

  readonly view: Resource<MemoryView>;

  async add(body: PostMemory): Promise<MemoryChange> {
    return this.changed(await this.api.add(body));
  }

  async edit(id: string, text: string): Promise<MemoryChange> {
    return this.changed(await this.api.edit(id, text));
  }

  async remove(id: string): Promise<MemoryChange> {
    return this.changed(await this.api.remove(id));
  }

  async undo({ operation_id }: MemoryChange): Promise<void> {
    await this.api.undo(operation_id);
    await this.view.load();
  }

  private async changed(change: MemoryChange): Promise<MemoryChange> {
    await this.view.load();
    return change;
  }
}
