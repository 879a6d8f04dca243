/** The state of the forms of MCP servers, and the requests made from it. Pure. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { McpServerView, PutMcpServer } from '../../wire/generated';
import {
  pairsIn,
  pairsText,
  targetText,
  type INamedEntry,
  type IServerEntry
} from './serverEntry';
import { targetOf } from './serverState';

/** A server as its form has it. */
export interface IServerForm {
  readonly name: string;
  /** The command line or address. */
  readonly target: string;
  readonly isRemote: boolean;
  /** Lines of environment variables, or of headers. */
  readonly pairs: string;
  readonly cwd: string;
  /** Whether it may ask for the user's model. */
  readonly sampling: boolean;
}

export const NO_SERVER: IServerForm = {
  name: '',
  target: '',
  isRemote: false,
  pairs: '',
  cwd: '',
  sampling: false
};

export function formOf({ name, entry }: INamedEntry): IServerForm {
  const isRemote = entry.url !== null;
  return {
    name,
    target: targetText(entry),
    isRemote,
    pairs: isRemote ? pairsText(entry.headers, ':') : pairsText(entry.env, '='),
    cwd: entry.cwd ?? '',
    sampling: entry.sampling
  };
}

/** The entry of a form, whose command or address is that of `base`. */
export function entryOf(form: IServerForm, base: IServerEntry): IServerEntry {
  const { pairs, cwd, sampling } = form;
  return base.url === null
    ? {
        ...base,
        env: pairsIn(pairs, '=') ?? {},
        cwd: cwd.trim() || null,
        sampling
      }
    : { ...base, headers: pairsIn(pairs, ':') ?? {}, sampling };
}

/** The form of a server; values of variables and headers are not sent to pages. */
export function formOfServer(server: McpServerView): IServerForm {
  return {
    name: server.name,
    target: targetOf(server),
    isRemote: server.url !== null,
    pairs: '',
    cwd: server.folder ?? '',
    sampling: server.sampling
  };
}

/** The request that stores an entry. */
export function bodyOf(entry: IServerEntry): PutMcpServer {
  const { command, args, env, cwd, url, headers, sse, sampling } = entry;
  return url === null
    ? {
        transport: 'stdio',
        command,
        args: [...args],
        env,
        folder: cwd,
        sampling
      }
    : { transport: sse ? 'sse' : 'http', url, headers, sampling };
}

/** The request that changes an entry; without new variables or headers it keeps those it has. */
export function changeOf(form: IServerForm, entry: IServerEntry): PutMcpServer {
  const body = bodyOf(entryOf(form, entry));
  if (form.pairs.trim() === '') {
    delete body.env;
    delete body.headers;
  }
  return body;
}

const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

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
        'A name has letters, digits, dots, - and _, and at most 64 characters.'
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
