/** The routes of MCP servers, in memory. */

import type {
  McpServerList,
  McpServerTest,
  McpServerView,
  PutMcpServer
} from '../../wire/generated';
import type { IMcpServersApi } from '../store/mcpServers';

export function mcpServer(
  name: string,
  change: Partial<McpServerView> = {}
): McpServerView {
  return {
    name,
    source: 'user',
    file: '~/.shoulders/mcp.json',
    line: 2,
    transport: 'stdio',
    command: ['npx', name],
    environment_names: [],
    header_names: [],
    folder: null,
    url: null,
    host: null,
    enabled: true,
    sampling: false,
    status: 'stopped',
    trust: 'not_needed',
    trust_id: null,
    missing_values: [],
    stored_values: [],
    authorization: 'none',
    blocked: null,
    error: null,
    hint: null,
    lock_reason: null,
    server_name: null,
    server_version: null,
    instructions: null,
    tool_count: null,
    resource_count: null,
    prompt_count: null,
    left_out: [],
    more_left_out: 0,
    unread: null,
    log_lines: [],
    ...change
  };
}

export class FakeMcpServers implements IMcpServersApi {
  list: McpServerList = {
    servers: [],
    lock_reason: null,
    problems: [],
    install: null,
    user_file: '~/.shoulders/mcp.json'
  };
  readonly asked: unknown[][] = [];

  have(...servers: McpServerView[]): void {
    this.list = { ...this.list, servers };
  }

  async servers(): Promise<McpServerList> {
    return this.list;
  }
  async put(name: string, body: PutMcpServer): Promise<McpServerView> {
    this.asked.push(['put', name, body]);
    const others = this.list.servers.filter(each => each.name !== name);
    const server = mcpServer(name);
    this.have(...others, server);
    return server;
  }
  async remove(name: string): Promise<void> {
    this.asked.push(['remove', name]);
    this.have(...this.list.servers.filter(each => each.name !== name));
  }
  async enable(name: string, enabled: boolean): Promise<McpServerView> {
    this.asked.push(['enable', name, enabled]);
    return this.change(name, { enabled });
  }
  async test(name: string): Promise<McpServerTest> {
    this.asked.push(['test', name]);
    const server = this.change(name, { status: 'running', tool_count: 2 });
    return { ok: true, message: 'It answers.', hint: null, server };
  }
  async restart(name: string): Promise<McpServerView> {
    this.asked.push(['restart', name]);
    return this.change(name, { status: 'running', error: null });
  }
  async signIn(name: string, here: string) {
    this.asked.push(['signIn', name, here]);
    return { url: 'https://login.example/authorize' };
  }
  async signOut(name: string): Promise<McpServerView> {
    return this.change(name, { authorization: 'needed' });
  }
  async setValue(
    name: string,
    variable: string,
    value: string | null
  ): Promise<McpServerView> {
    this.asked.push(['setValue', name, variable, value]);
    return this.change(name, { missing_values: [] });
  }

  change(name: string, change: Partial<McpServerView>): McpServerView {
    const found = this.list.servers.find(each => each.name === name);
    const changed = { ...(found ?? mcpServer(name)), ...change };
    this.have(
      ...this.list.servers.map(each => (each === found ? changed : each))
    );
    return changed;
  }
}
