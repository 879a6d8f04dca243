/** Short descriptions of attachments, for chips and lists. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Attachment } from '../wire/generated';
import type { IChatHost, IconName } from '../host/chatHost';

/** How an attachment is shown; `path` is what a click opens. */
export interface IAttachmentLabel {
  readonly icon: IconName;
  readonly label: string;
  readonly title: string;
  readonly path: string | null;
  readonly cellId: string | null;
}

/** Page data needed to describe an attachment. */
export interface ILabelContext {
  readonly trans: TranslationBundle;
  readonly cellsOf: IChatHost['cellsOf'];
  /** The title of another conversation. */
  readonly titleOf: (sessionId: string) => string | undefined;
}

export function describe(
  attachment: Attachment,
  known: ILabelContext
): IAttachmentLabel {
  const { trans } = known;
  switch (attachment.kind) {
    case 'image':
      return nowhere('image', trans.__('Image'));
    case 'thread': {
      const title = known.titleOf(attachment.session_id) ?? '';
      return nowhere('thread', title === '' ? trans.__('Conversation') : title);
    }
    case 'mcp_resource':
      return { ...nowhere('file', attachment.name), title: attachment.uri };
    case 'mcp_prompt':
      return nowhere('file', `${attachment.server}:${attachment.name}`);
    case 'file':
    case 'folder':
      return at(attachment, iconOf(attachment), nameOf(attachment.path));
    case 'variable':
      return at(attachment, 'variable', attachment.name);
    case 'selection': {
      const lines = attachment.text.split('\n').length;
      return {
        ...at(
          attachment,
          'cell',
          trans._n(
            '%1 line of %2',
            '%1 lines of %2',
            lines,
            nameOf(attachment.path)
          )
        ),
        title: attachment.text.slice(0, 300),
        cellId: attachment.cell_id
      };
    }
    case 'cell':
    case 'error':
    case 'output':
      return ofCell(attachment, known);
  }
}

/** The last component of a path. */
export function nameOf(path: string): string {
  return path.split('/').at(-1) ?? path;
}

type OfCell = Extract<Attachment, { kind: 'cell' | 'error' | 'output' }>;

function ofCell(attachment: OfCell, known: ILabelContext): IAttachmentLabel {
  const { trans } = known;
  const { kind, path, cell_id } = attachment;
  const cell = known.cellsOf(path).find(({ id }) => id === cell_id);
  const number = cell === undefined ? '' : String(cell.number);
  const label = {
    cell: () => trans.__('Cell %1', number),
    error: () => trans.__('Error of cell %1', number),
    output: () => trans.__('Output of cell %1', number)
  }[kind]();
  const icon = kind === 'error' ? 'error' : 'cell';
  return { ...at({ path }, icon, label.trim()), cellId: cell_id };
}

function at(
  { path }: { path: string },
  icon: IconName,
  label: string
): IAttachmentLabel {
  return { icon, label, title: path, path, cellId: null };
}

function nowhere(icon: IconName, label: string): IAttachmentLabel {
  return { icon, label, title: label, path: null, cellId: null };
}

function iconOf({ kind, path }: { kind: string; path: string }): IconName {
  if (kind === 'folder') {
    return 'folder';
  }
  return path.endsWith('.ipynb') ? 'notebook' : 'file';
}
