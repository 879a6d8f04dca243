/** MCP servers as the settings page knows them, and their routes. The store is part of `SettingsStore`. */

import { Resource } from '../../client/resource';
import type { IHttpClient } from '../../client/http';
import type {
  McpAnswer,
  McpServerInfo,
  McpServerList,
  McpSignIn,
  McpTest,
  PutMcpServer
} from './mcpWire';

/** Each method rejects with an `ApiError`. */
export interface IMcpServersApi {
  servers(): Promise<McpServerList>;
  /** Write an entry of the user's file. */
  put(name: string, body: PutMcpServer): Promise<McpServerList>;
  remove(name: string): Promise<McpServerList>;
  /** Allow an entry of the folder, or decline it. */
  answer(name: string, body: McpAnswer): Promise<McpServerList>;
  enable(name: string, enabled: boolean): Promise<McpServerInfo>;
  /** Start it and list what it offers. */
  test(name: string): Promise<McpTest>;
  restart(name: string): Promise<McpServerInfo>;
  /** Begin to sign in; the answer has the page to open. */
  signIn(name: string): Promise<McpSignIn>;
  signOut(name: string): Promise<McpServerInfo>;
  /** Store a value that an entry refers to, like a key. */
  setValue(
    name: string,
    variable: string,
    value: string
  ): Promise<McpServerInfo>;
}

/** The routes over HTTP. */
export function mcpServersApi(http: Pick<IHttpClient, 'call'>): IMcpServersApi {
  const server = (name: string, what = ''): string =>
    `mcp/servers/${encodeURIComponent(name)}${what}`;
  return {
    servers: () => http.call('GET', 'mcp/servers'),
    put: (name, body) => http.call('PUT', server(name), body),
    remove: name => http.call('DELETE', server(name)),
    answer: (name, body) => http.call('POST', server(name, '/review'), body),
    enable: (name, enabled) =>
      http.call('PUT', server(name, '/enabled'), { enabled }),
    test: name => http.call('POST', server(name, '/test'), {}),
    restart: name => http.call('POST', server(name, '/restart'), {}),
    signIn: name => http.call('POST', server(name, '/sign-in'), {}),
    signOut: name => http.call('POST', server(name, '/sign-out'), {}),
    setValue: (name, variable, value) =>
      http.call('PUT', server(name, '/values'), { name: variable, value })
  };
}

/** The list of servers; each change updates it. */
export class McpServersStore {
  constructor(readonly api: IMcpServersApi) {
    this.list = new Resource(() => api.servers());
  }

  readonly list: Resource<McpServerList>;

  /** Make a change whose answer is the new list. */
  async change(act: Promise<McpServerList>): Promise<void> {
    this.list.set(await act);
  }

  /** Make a change whose answer is the server. */
  async update(act: Promise<McpServerInfo>): Promise<void> {
    const server = await act;
    const { value } = this.list;
    if (value !== null) {
      const servers = value.servers.map(each =>
        each.name === server.name ? server : each
      );
      this.list.set({ ...value, servers });
    }
  }

  async test(name: string): Promise<McpTest> {
    const result = await this.api.test(name);
    void this.list.refresh();
    return result;
  }
}
