/** Placeholder for the wire types of MCP servers until they are generated. */

import type { ErrorInfo } from '../../wire/generated';

export interface McpServerEntry {
  command?: string | null;
  args?: string[];
  env?: Record<string, string>;
  cwd?: string | null;
  url?: string | null;
  headers?: Record<string, string>;
  type?: 'stdio' | 'http' | 'sse' | null;
}

export interface McpServerInfo {
  name: string;
  source: 'workspace' | 'user' | 'administrator';
  state:
    | 'idle'
    | 'starting'
    | 'running'
    | 'failed'
    | 'review'
    | 'declined'
    | 'missing_value'
    | 'sign_in'
    | 'disabled';
  error: ErrorInfo | null;
  /** The exact command, or the address. */
  target: string;
  host: string | null;
  entry: McpServerEntry;
  /** The entry as text, and the one that was allowed before. */
  content: string;
  previous: string | null;
  review_id: string | null;
  missing: string[];
  tools: string[];
  left_out: { name: string; reason: string }[];
  log: string[];
  locked: boolean;
  signed_in: boolean;
}

export interface McpServerList {
  servers: McpServerInfo[];
  /** Why nothing can be changed. */
  locked: string | null;
  problems: { file: string; line: number | null; message: string }[];
  install: string | null;
}

export interface McpAnswer {
  allow: boolean;
  review_id: string;
}
export interface McpSignIn {
  url: string;
}
export interface McpTest {
  ok: boolean;
  message: string;
  hint: string | null;
}
export interface PutMcpServer {
  entry: McpServerEntry;
  replaces?: string | null;
}
