/** The routes of MCP servers, in memory. */

import type { IMcpServersApi } from '../store/mcpServers';
import type {
  McpAnswer,
  McpServerInfo,
  McpServerList,
  McpTest,
  PutMcpServer
} from '../store/mcpWire';

export function mcpServer(
  name: string,
  change: Partial<McpServerInfo> = {}
): McpServerInfo {
  return {
    name,
    source: 'user',
    state: 'idle',
    error: null,
    target: `npx ${name}`,
    host: null,
    entry: { command: 'npx', args: [name] },
    content: `{"command": "npx", "args": ["${name}"]}`,
    previous: null,
    review_id: null,
    missing: [],
    tools: [],
    left_out: [],
    log: [],
    locked: false,
    signed_in: false,
    ...change
  };
}

export class FakeMcpServers implements IMcpServersApi {
  list: McpServerList = {
    servers: [],
    locked: null,
    problems: [],
    install: null
  };
  readonly asked: unknown[][] = [];

  have(...servers: McpServerInfo[]): void {
    this.list = { ...this.list, servers };
  }

  async servers(): Promise<McpServerList> {
    return this.list;
  }
  async put(name: string, body: PutMcpServer): Promise<McpServerList> {
    this.asked.push(['put', name, body]);
    const others = this.list.servers.filter(
      each => each.name !== name && each.name !== body.replaces
    );
    this.have(...others, mcpServer(name, { entry: body.entry }));
    return this.list;
  }
  async remove(name: string): Promise<McpServerList> {
    this.asked.push(['remove', name]);
    this.have(...this.list.servers.filter(each => each.name !== name));
    return this.list;
  }
  async answer(name: string, body: McpAnswer): Promise<McpServerList> {
    this.asked.push(['answer', name, body]);
    this.change(name, {
      state: body.allow ? 'idle' : 'declined',
      review_id: null
    });
    return this.list;
  }
  async enable(name: string, enabled: boolean): Promise<McpServerInfo> {
    this.asked.push(['enable', name, enabled]);
    return this.change(name, { state: enabled ? 'idle' : 'disabled' });
  }
  async test(name: string): Promise<McpTest> {
    this.asked.push(['test', name]);
    this.change(name, { state: 'running', tools: ['echo', 'add'] });
    return { ok: true, message: '2 tools.', hint: null };
  }
  async restart(name: string): Promise<McpServerInfo> {
    this.asked.push(['restart', name]);
    return this.change(name, { state: 'running', error: null });
  }
  async signIn(name: string) {
    this.asked.push(['signIn', name]);
    return { url: 'https://login.example/authorize' };
  }
  async signOut(name: string): Promise<McpServerInfo> {
    return this.change(name, { signed_in: false });
  }
  async setValue(
    name: string,
    variable: string,
    value: string
  ): Promise<McpServerInfo> {
    this.asked.push(['setValue', name, variable, value]);
    return this.change(name, { missing: [], state: 'idle' });
  }

  change(name: string, change: Partial<McpServerInfo>): McpServerInfo {
    const found = this.list.servers.find(each => each.name === name);
    const changed = { ...(found ?? mcpServer(name)), ...change };
    this.have(
      ...this.list.servers.map(each => (each === found ? changed : each))
    );
    return changed;
  }
}
