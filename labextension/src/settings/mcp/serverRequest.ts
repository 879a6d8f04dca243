/** The state of the forms of MCP servers, and the requests made from it. Pure. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type {
  McpServerEntry,
  McpServerInfo,
  PutMcpServer
} from '../store/mcpWire';
import {
  pairsIn,
  pairsText,
  targetText,
  type INamedEntry,
  type IServerEntry
} from './serverEntry';

/** A server as its form has it. */
export interface IServerForm {
  readonly name: string;
  /** The command line or address. */
  readonly target: string;
  readonly isRemote: boolean;
  /** Lines of environment variables, or of headers. */
  readonly pairs: string;
  readonly cwd: string;
}

export const NO_SERVER: IServerForm = {
  name: '',
  target: '',
  isRemote: false,
  pairs: '',
  cwd: ''
};

export function formOf({ name, entry }: INamedEntry): IServerForm {
  const isRemote = entry.url !== null;
  return {
    name,
    target: targetText(entry),
    isRemote,
    pairs: isRemote ? pairsText(entry.headers, ':') : pairsText(entry.env, '='),
    cwd: entry.cwd ?? ''
  };
}

/** The entry of a form, whose command or address is that of `base`. */
export function entryOf(form: IServerForm, base: IServerEntry): IServerEntry {
  const { pairs, cwd } = form;
  return base.url === null
    ? { ...base, env: pairsIn(pairs, '=') ?? {}, cwd: cwd.trim() || null }
    : { ...base, headers: pairsIn(pairs, ':') ?? {} };
}

/** A server as the form edits it. */
export function namedOf({ name, entry }: McpServerInfo): INamedEntry {
  return {
    name,
    entry: {
      command: entry.command ?? null,
      args: entry.args ?? [],
      env: entry.env ?? {},
      cwd: entry.cwd ?? null,
      url: entry.url ?? null,
      headers: entry.headers ?? {},
      sse: entry.type === 'sse'
    }
  };
}

/** The request that stores an entry; `replaces` is its name until now. */
export function bodyOf(
  { command, args, env, cwd, url, headers, sse }: IServerEntry,
  replaces: string | null = null
): PutMcpServer {
  const entry: McpServerEntry =
    url === null
      ? { command, args: [...args], env, cwd }
      : { type: sse ? 'sse' : 'http', url, headers };
  return { entry, replaces };
}

const NAME = /^[A-Za-z0-9][\w-]{0,39}$/;

/** Why the servers cannot be stored; empty if they can. */
export function problemOf(
  servers: readonly INamedEntry[],
  form: IServerForm | null,
  taken: readonly string[],
  trans: TranslationBundle
): string {
  for (const { name } of servers) {
    if (!NAME.test(name)) {
      return trans.__(
        'A name has letters, digits, - and _, and at most 40 characters.'
      );
    }
    if (taken.includes(name)) {
      return trans.__('There is already a server named %1.', name);
    }
  }
  return form === null ? '' : pairsProblem(form, trans);
}

function pairsProblem(
  { pairs, isRemote }: IServerForm,
  trans: TranslationBundle
): string {
  if (pairsIn(pairs, isRemote ? ':' : '=') !== null) {
    return '';
  }
  return isRemote
    ? trans.__('Write each header on a line, as Name: value.')
    : trans.__('Write each variable on a line, as NAME=value.');
}
