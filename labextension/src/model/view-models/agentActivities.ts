/**
 * How the reports of an agent of others are shown: icons, links and texts. Pure; used by the message list.
 */

import type { ActivityView, CallView, PartView } from '../../wire/generated';
import type { ToolIcon } from './toolIcons';

/** A piece that an activity shows. */
export type ActivityPiece = ActivityView['content'][number];

const ICONS: Readonly<Record<ActivityView['kind'], ToolIcon>> = {
  read: 'eye',
  edit: 'pencil',
  delete: 'delete',
  move: 'folder',
  search: 'search',
  execute: 'terminal',
  think: 'book',
  fetch: 'link',
  switch_mode: 'check',
  other: 'tool'
};

/** The icon of a kind. */
export function activityIcon(kind: ActivityView['kind']): ToolIcon {
  return ICONS[kind];
}

/** The class of a line by its state, as for calls. */
export function activityState({ status }: ActivityView): string {
  switch (status) {
    case 'pending':
      return 'proposed';
    case 'in_progress':
      return 'running';
    case 'completed':
      return 'ok';
    case 'failed':
      return 'error';
  }
}

/** The files of an activity, each once: from its locations and its differences. */
export function activityPaths({ locations, content }: ActivityView): string[] {
  const changed = content.flatMap(piece =>
    piece.type === 'diff' ? [piece.path] : []
  );
  return [...new Set([...locations, ...changed])];
}

/** The title around the file that it names, so that this can be a link; `file` is empty when it names none. */
export interface ITitleParts {
  readonly before: string;
  readonly file: string;
  readonly path: string | null;
  readonly after: string;
}

/** Split a title at the first of the paths that it has, whole or by its last part. */
export function titleParts(
  title: string,
  paths: readonly string[]
): ITitleParts {
  for (const path of paths) {
    const file = [path, nameOf(path)].find(name => title.includes(name));
    if (file !== undefined) {
      const at = title.indexOf(file);
      const after = title.slice(at + file.length);
      return { before: title.slice(0, at), file, path, after };
    }
  }
  return { before: title, file: '', path: null, after: '' };
}

/** What the line expands to; a terminal has a line of its own, the call that runs its command. */
export function activityDetail({ content }: ActivityView): ActivityPiece[] {
  return content.filter(
    piece =>
      piece.type === 'diff' || (piece.type === 'text' && piece.text !== '')
  );
}

/** The last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1) || path;
}

/** Text without the fence that some agents put around output. */
export function unfenced(text: string): string {
  const fence = /^(`{3,})[^\n`]*\n([\s\S]*?)\n?\1$/.exec(text.trim());
  return fence?.[2] ?? text;
}

/** The calls that carry out requests of an agent of others, by the names of the tools they resemble. */
const OF_AGENTS = /^agent_(may_)?/;

/** The name of the tool without the mark of requests of agents: `agent_run_command` is `run_command`. */
export function plainTool(tool: string): string {
  return tool.replace(OF_AGENTS, '');
}

/**
 * The calls that repeat what an activity says: a permission that was given, and a read of a file that an activity names.
 * Refused ones are shown.
 */
export function repeatsActivity(
  { tool, state, arguments: given }: CallView,
  parts: readonly PartView[]
): boolean {
  if (state !== 'ok' || !OF_AGENTS.test(tool)) {
    return false;
  }
  const path = given?.path;
  const activities = parts.filter(part => part.type === 'activity');
  return (
    tool.startsWith('agent_may_') ||
    (tool === 'agent_read_file' &&
      typeof path === 'string' &&
      activities.some(activity => activityPaths(activity).includes(path)))
  );
}
