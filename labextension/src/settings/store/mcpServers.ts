/** MCP servers as the settings page knows them, and their routes. The store is part of `SettingsStore`. */

import type { IHttpClient } from '../../client/http';
import { Resource } from '../../client/resource';
import type {
  McpAuthorizationUrl,
  McpServerList,
  McpServerTest,
  McpServerView,
  PutMcpServer
} from '../../wire/generated';

/** Each method rejects with an `ApiError`. */
export interface IMcpServersApi {
  servers(): Promise<McpServerList>;
  /** Write an entry of the user's file. */
  put(name: string, body: PutMcpServer): Promise<McpServerView>;
  remove(name: string): Promise<void>;
  enable(name: string, enabled: boolean): Promise<McpServerView>;
  /** Start it and list what it offers. */
  test(name: string): Promise<McpServerTest>;
  restart(name: string): Promise<McpServerView>;
  /** Begin to sign in; the answer has the page to open. `here` is the address of this Jupyter server. */
  signIn(name: string, here: string): Promise<McpAuthorizationUrl>;
  signOut(name: string): Promise<McpServerView>;
  /** Store a value that an entry refers to, like a key; null removes it. */
  setValue(
    name: string,
    variable: string,
    value: string | null
  ): Promise<McpServerView>;
}

/** The routes over HTTP. */
export function mcpServersApi(http: Pick<IHttpClient, 'call'>): IMcpServersApi {
  const server = (name: string, what = ''): string =>
    `mcp/servers/${encodeURIComponent(name)}${what}`;
  const value = (name: string, variable: string): string =>
    server(name, `/values/${encodeURIComponent(variable)}`);
  return {
    servers: () => http.call('GET', 'mcp/servers'),
    put: (name, body) => http.call('PUT', server(name), body),
    remove: name => http.call('DELETE', server(name)),
    enable: (name, enabled) =>
      http.call('PUT', server(name, '/enabled'), { enabled }),
    test: name => http.call('POST', server(name, '/test'), {}),
    restart: name => http.call('POST', server(name, '/restart'), {}),
    signIn: (name, here) =>
      http.call('POST', server(name, '/authorize'), { public_url: here }),
    signOut: name => http.call('DELETE', server(name, '/authorization')),
    setValue: (name, variable, text) =>
      http.call('PUT', value(name, variable), { value: text })
  };
}

/** The list of servers; it is read again after each change, which may affect others. */
export class McpServersStore {
  constructor(readonly api: IMcpServersApi) {
    this.list = new Resource(() => api.servers());
  }

  readonly list: Resource<McpServerList>;

  /** Make a change. */
  async change<T>(act: Promise<T>): Promise<T> {
    try {
      return await act;
    } finally {
      await this.list.refresh();
    }
  }
}
