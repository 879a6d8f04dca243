/** Mentionable things of the page: cells, errors, variables, notebooks, conversations; the server searches files. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { IMention, MentionKind } from './mentions';
import type {
  FileMatches,
  McpResourceMatches,
  Session,
  VariableSummary
} from '../../../wire/generated';
import type { IconName, IEditorContext } from '../../../host/chatHost';
import type { ICellInfo } from '../../../host/inputHost';
import { nameOf } from '../../../ui/attachmentLabels';

/** The context of the input. */
export interface IMentionContext {
  readonly editorContext: IEditorContext;
  readonly cells: readonly ICellInfo[];
  readonly variables: readonly VariableSummary[];
  readonly threads: readonly Session[];
}

/** All local candidates, the nearest to the user first. */
export function localMentions(
  around: IMentionContext,
  trans: TranslationBundle
): IMention[] {
  const { editorContext, cells, variables, threads } = around;
  const path = editorContext.document ?? '';
  return [
    ...cells
      .filter(cell => cell.hasError)
      .map(cell => errorOf(cell, path, trans)),
    ...nearestFirst(cells, editorContext).map(cell =>
      cellOf(cell, path, trans)
    ),
    ...variables.map(variable => variableOf(variable, path)),
    ...editorContext.openDocuments.map(openOf),
    ...threads.map(session => threadOf(session, trans))
  ];
}

/** Candidates from the server. */
export function serverMentions({ matches }: FileMatches): IMention[] {
  return matches.map(({ path, kind }) => ({
    kind,
    label: nameOf(path),
    note: folderOf(path),
    text: `@${path}`,
    attachment: { kind: kind === 'folder' ? 'folder' : 'file', path }
  }));
}

/** Candidates from running MCP servers. */
export function resourceMentions({
  resources
}: McpResourceMatches): IMention[] {
  return resources.map(({ server, uri, name, title }) => ({
    kind: 'resource',
    label: title ?? name,
    note: `${server} · ${uri}`,
    text: `@${server}:${uri}`,
    attachment: { kind: 'mcp_resource', server, uri, name }
  }));
}

/** Heading of a kind. */
export function kindName(kind: MentionKind, trans: TranslationBundle): string {
  switch (kind) {
    case 'error':
      return trans.__('Errors');
    case 'cell':
      return trans.__('Cells');
    case 'variable':
      return trans.__('Variables');
    case 'notebook':
      return trans.__('Notebooks');
    case 'file':
      return trans.__('Files');
    case 'folder':
      return trans.__('Folders');
    case 'resource':
      return trans.__('MCP resources');
    case 'thread':
      return trans.__('Conversations');
  }
}

/** Icons of the kinds. */
export const KIND_ICONS: Readonly<Record<MentionKind, IconName>> = {
  error: 'error',
  cell: 'cell',
  variable: 'variable',
  notebook: 'notebook',
  file: 'file',
  folder: 'folder',
  resource: 'link',
  thread: 'thread'
};

/** The active cell, then its neighbours. */
function nearestFirst(
  cells: readonly ICellInfo[],
  { cell }: IEditorContext
): ICellInfo[] {
  const here = cell?.number ?? 1;
  const away = ({ number }: ICellInfo): number => Math.abs(number - here);
  return [...cells].sort((a, b) => away(a) - away(b));
}

function cellOf(
  { id, number, line }: ICellInfo,
  path: string,
  trans: TranslationBundle
): IMention {
  return {
    kind: 'cell',
    label: trans.__('Cell %1', number),
    note: line,
    text: trans.__('@cell %1', number),
    attachment: { kind: 'cell', path, cell_id: id }
  };
}

function errorOf(
  { id, number, line }: ICellInfo,
  path: string,
  trans: TranslationBundle
): IMention {
  return {
    kind: 'error',
    label: trans.__('Error of cell %1', number),
    note: line,
    text: trans.__('@error of cell %1', number),
    attachment: { kind: 'error', path, cell_id: id }
  };
}

function variableOf(
  { name, summary }: VariableSummary,
  path: string
): IMention {
  return {
    kind: 'variable',
    label: name,
    note: summary,
    text: `@${name}`,
    attachment: { kind: 'variable', path, name }
  };
}

function openOf(path: string): IMention {
  return {
    kind: path.endsWith('.ipynb') ? 'notebook' : 'file',
    label: nameOf(path),
    note: folderOf(path),
    text: `@${path}`,
    attachment: { kind: 'file', path }
  };
}

function threadOf({ id, title }: Session, trans: TranslationBundle): IMention {
  const label = title === '' ? trans.__('Untitled conversation') : title;
  return {
    kind: 'thread',
    label,
    note: '',
    text: `“${label}”`,
    attachment: { kind: 'thread', session_id: id }
  };
}

function folderOf(path: string): string {
  return path.split('/').slice(0, -1).join('/');
}
