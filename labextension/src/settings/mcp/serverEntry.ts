/**
 * Entries of MCP servers as people paste them: a command line, an address, or the JSON that other clients document.
 * Pure; used by the form that adds and edits servers.
 */

import type { Json } from '../../wire/generated';
import { joinWords, splitWords } from './commandWords';

/** How a server is started or reached; `url` is null for a command. */
export interface IServerEntry {
  readonly command: string | null;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | null;
  readonly url: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the address speaks the older protocol of server-sent events. */
  readonly sse: boolean;
  /** Whether the server may ask for the user's model. */
  readonly sampling: boolean;
}

/** An entry and its name; the name is empty where the text gives none. */
export interface INamedEntry {
  readonly name: string;
  readonly entry: IServerEntry;
}

const NOTHING: IServerEntry = {
  command: null,
  args: [],
  env: {},
  cwd: null,
  url: null,
  headers: {},
  sse: false,
  sampling: false
};

/** Keys under which clients keep their servers. */
const LISTS = ['mcpServers', 'servers', 'context_servers', 'mcp_servers'];

/** The servers that a text describes; none if it cannot be read. */
export function entriesIn(text: string): INamedEntry[] {
  const typed = text.trim();
  if (typed === '') {
    return [];
  }
  if (/^https?:\/\//i.test(typed)) {
    return URL.canParse(typed) && !/\s/.test(typed)
      ? [named('', { ...NOTHING, url: typed })]
      : [];
  }
  return /^["{]/.test(typed) && /[:{]/.test(typed)
    ? entriesOfJson(typed)
    : entriesOfCommand(typed);
}

function named(name: string, entry: IServerEntry): INamedEntry {
  return { name: name === '' ? suggestName(entry) : name, entry };
}

function entriesOfCommand(text: string): INamedEntry[] {
  const words = splitWords(text);
  const first = words.findIndex(word => !/^[A-Za-z_]\w*=/.test(word));
  const [command, ...args] = first < 0 ? [] : words.slice(first);
  if (command === undefined) {
    return [];
  }
  const env = Object.fromEntries(
    words.slice(0, first).map(word => splitAt(word, '='))
  );
  return [named('', { ...NOTHING, command, args, env })];
}

function entriesOfJson(text: string): INamedEntry[] {
  const value = parsed(text) ?? parsed(`{${text.replace(/,\s*$/, '')}}`);
  if (!isObject(value)) {
    return [];
  }
  const list = LISTS.map(key => value[key]).find(isObject);
  if (list === undefined && entryOf(value) !== null) {
    return [value].flatMap(one => namedOf('', one));
  }
  return Object.entries(list ?? value).flatMap(([name, one]) =>
    namedOf(name, one)
  );
}

function namedOf(name: string, value: Json): INamedEntry[] {
  const entry = isObject(value) ? entryOf(value) : null;
  return entry === null ? [] : [named(name, entry)];
}

/** An entry of any client; null if it names neither a command nor an address. */
function entryOf(value: Record<string, Json>): IServerEntry | null {
  const url = textIn(value, 'url') ?? textIn(value, 'httpUrl');
  return url === null ? commandEntry(value) : addressEntry(value, url);
}

function addressEntry(value: Record<string, Json>, url: string): IServerEntry {
  return {
    ...NOTHING,
    url,
    headers: textsIn(value.headers ?? value.http_headers),
    sse: value.type === 'sse' || /\/sse\/?$/.test(url),
    sampling: value.sampling === true
  };
}

function commandEntry(value: Record<string, Json>): IServerEntry | null {
  const given = isObject(value.command) ? value.command : value; // Zed nests it.
  const command = textIn(given, 'command') ?? textIn(given, 'path');
  return command === null
    ? null
    : {
        ...NOTHING,
        command,
        args: Array.isArray(given.args) ? given.args.map(String) : [],
        env: textsIn(given.env),
        cwd: textIn(value, 'cwd'),
        sampling: value.sampling === true
      };
}

/** A short name for a server: its package, program or host. */
export function suggestName({ command, args, url }: IServerEntry): string {
  if (url !== null) {
    const labels = URL.canParse(url) ? new URL(url).hostname.split('.') : [];
    const telling = labels.filter(label => !/^(www|mcp|api|\d+)$/.test(label));
    return plain(telling[0] ?? labels[0] ?? '');
  }
  const runner = /(^|[/\\])(npx|uvx|bunx|pipx|docker|node|python[\d.]*)$/;
  const words =
    command !== null && !runner.test(command) ? [command] : [...args];
  const telling = words.find(
    word => !word.startsWith('-') && !/^(run|exec|tool)$/.test(word)
  );
  const path = (telling ?? command ?? '').replace(/@[\d.]+$|@latest$/, '');
  const last = path.split(/[/\\]/).at(-1) ?? '';
  return plain(
    last
      .replace(/\.(py|js|mjs|cjs|ts|exe|sh)$/, '')
      .replace(/^(mcp-server-|server-)|(-mcp|-mcp-server|-server)$/g, '')
  );
}

function plain(text: string): string {
  return text.replace(/[^\w-]+/g, '-').replace(/^[-_]+|[-_]+$/g, '');
}

/** The command line or address of an entry, as the form shows it. */
export function targetText({ command, args, url }: IServerEntry): string {
  return url ?? joinWords([command ?? '', ...args]);
}

/** Environment variables or headers as lines. */
export function pairsText(
  pairs: Readonly<Record<string, string>>,
  sign: '=' | ':'
): string {
  const gap = sign === ':' ? ' ' : '';
  return Object.entries(pairs)
    .map(([name, value]) => `${name}${sign}${gap}${value}`)
    .join('\n');
}

/** The pairs of such lines; null if a line is not one. */
export function pairsIn(
  text: string,
  sign: '=' | ':'
): Record<string, string> | null {
  const lines = text.split('\n').filter(line => line.trim() !== '');
  const pairs = lines.map(line => splitAt(line, sign));
  const isFine = pairs.every(([name], index) => {
    const hasSign = lines[index]?.includes(sign) === true;
    return hasSign && /^[\w.-]+$/.test(name);
  });
  return isFine ? Object.fromEntries(pairs) : null;
}

function splitAt(text: string, sign: string): [string, string] {
  const at = text.indexOf(sign);
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

function parsed(text: string): Json | null {
  try {
    return JSON.parse(text) as Json; // Whatever JSON is, it is a `Json`.
  } catch {
    return null;
  }
}

function textIn(value: Record<string, Json>, key: string): string | null {
  const found = value[key];
  return typeof found === 'string' && found.trim() !== '' ? found.trim() : null;
}

function textsIn(value: Json | undefined): Record<string, string> {
  return isObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([name, text]) => [
          name,
          typeof text === 'string' ? text : JSON.stringify(text)
        ])
      )
    : {};
}

function isObject(value: Json | undefined): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
