/** Tools of MCP servers, and programs that call our tools: who is behind a name. Pure. */

import type { CallView, Session } from '../../wire/generated';

/** Prefix of the model ids of programs that call our tools. */
const CLIENT = 'client:';

/** A tool of an MCP server. */
export interface IServerTool {
  readonly server: string;
  readonly tool: string;
}

/** The server and its tool that the name of one of our tools stands for; null for a tool of ours. */
export function serverToolOf(name: string): IServerTool | null {
  const parts = /^mcp__(.+?)__(.+)$/.exec(name);
  const [, server, tool] = parts ?? [];
  return server === undefined || tool === undefined ? null : { server, tool };
}

/** The title of a call. A tool of a server names its server, whatever title the server gives. */
export function callTitle({
  tool,
  title
}: Pick<CallView, 'tool' | 'title'>): string {
  const owner = serverToolOf(tool);
  if (owner === null) {
    return title;
  }
  const start = `${owner.server} · `;
  return title.startsWith(start) ? title : start + owner.tool;
}

/** The program that leads a conversation by calling our tools; null for an ordinary conversation. */
export function clientOf(
  session: Pick<Session, 'kind' | 'model'> | null
): string | null {
  if (session?.kind !== 'agent') {
    return null;
  }
  const { model } = session;
  return model?.startsWith(CLIENT) === true ? model.slice(CLIENT.length) : '';
}
