/**
 * What to paste into other programs so that they use our MCP server. Pure. The formats are those of each program's own
 * documentation (2026-11); `jupyter shoulders mcp config` prints the same entries.
 */

export const CLIENTS = [
  'claude-code',
  'codex',
  'cursor',
  'vscode',
  'gemini',
  'zed'
] as const;

export type Client = (typeof CLIENTS)[number];

/** Where an entry goes, and the entry. */
export interface IClientEntry {
  readonly name: string;
  /** The file that holds the entry; null for a command to run in a terminal. */
  readonly file: string | null;
  readonly text: string;
}

/** Stands for a token that is not known. */
export const TOKEN_PLACEHOLDER = 'TOKEN';

/** The entry for a program, with an address and a token. */
export function clientEntry(
  client: Client,
  url: string,
  token: string
): IClientEntry {
  const authorization = `Bearer ${token}`;
  const headers = { Authorization: authorization };
  switch (client) {
    case 'claude-code':
      return {
        name: 'Claude Code',
        file: null,
        text: `claude mcp add --transport http jupyter ${url} --header "Authorization: ${authorization}"`
      };
    case 'codex':
      return {
        name: 'Codex',
        file: '~/.codex/config.toml',
        text: [
          '[mcp_servers.jupyter]',
          `url = ${JSON.stringify(url)}`,
          `http_headers = { Authorization = ${JSON.stringify(authorization)} }`,
          // Without these it begins without a slow server, ends a call after a minute of waiting, and asks a second time.
          'required = true',
          'tool_timeout_sec = 3600',
          'default_tools_approval_mode = "approve"'
        ].join('\n')
      };
    case 'cursor':
      return {
        name: 'Cursor',
        file: '~/.cursor/mcp.json',
        text: json({ mcpServers: { jupyter: { url, headers } } })
      };
    case 'vscode':
      return {
        name: 'VS Code',
        file: '.vscode/mcp.json',
        text: json({ servers: { jupyter: { type: 'http', url, headers } } })
      };
    case 'gemini':
      return {
        name: 'Gemini CLI',
        file: '~/.gemini/settings.json',
        text: json({ mcpServers: { jupyter: { httpUrl: url, headers } } })
      };
    case 'zed':
      return {
        name: 'Zed',
        file: '~/.config/zed/settings.json',
        text: json({ context_servers: { jupyter: { url, headers } } })
      };
  }
}

function json(value: object): string {
  return JSON.stringify(value, null, 2);
}
