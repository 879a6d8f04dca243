/** Placeholder for the wire types of MCP servers until they are generated. */

export interface McpServerView {
  name: string;
  source: 'workspace' | 'user' | 'administrator';
  file: string | null;
  line: number | null;
  transport: 'stdio' | 'http' | 'sse';
  command: string[];
  environment_names: string[];
  header_names: string[];
  folder: string | null;
  url: string | null;
  host: string | null;
  enabled: boolean;
  status: 'stopped' | 'starting' | 'running' | 'waiting' | 'failed';
  trust:
    'not_needed' | 'new' | 'changed' | 'trusted' | 'declined' | 'forbidden';
  trust_id: string | null;
  missing_values: { name: string; used_in: string[] }[];
  stored_values: string[];
  authorization: 'none' | 'needed' | 'signed_in';
  blocked: string | null;
  error: string | null;
  hint: string | null;
  lock_reason: string | null;
  server_name: string | null;
  server_version: string | null;
  instructions: string | null;
  tool_count: number | null;
  resource_count: number | null;
  prompt_count: number | null;
  log_lines: string[];
}
export interface McpServerList {
  install: string | null;
  lock_reason: string | null;
  user_file: string;
  servers: McpServerView[];
  problems: {
    file: string;
    line: number | null;
    server: string | null;
    message: string;
  }[];
}
export interface PutMcpServer {
  transport: 'stdio' | 'http' | 'sse';
  command?: string | null;
  args?: string[];
  env?: Record<string, string>;
  folder?: string | null;
  url?: string | null;
  headers?: Record<string, string>;
}
export interface McpServerTest {
  ok: boolean;
  message: string;
  hint: string | null;
  server: McpServerView;
}
export interface McpAuthorizationUrl {
  url: string;
}
