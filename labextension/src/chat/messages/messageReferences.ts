/** The attachments and context of a user message as chips. Pure; used by the views. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { IconName } from '../../host/chatHost';
import type { IDocumentTarget } from '../../host/messageHost';
import type { Attachment, MessageContext } from '../../wire/generated';
import { visible } from '../../text/hiddenCharacters';

/** The target of a chip. */
export type Opens =
  | { readonly kind: 'target'; readonly target: IDocumentTarget }
  | { readonly kind: 'picture'; readonly source: string }
  | { readonly kind: 'session'; readonly session: string }
  | { readonly kind: 'nothing' };

/** A chip under a message. */
export interface IReference {
  readonly key: string;
  readonly icon: IconName;
  readonly text: string;
  readonly title: string;
  readonly opens: Opens;
}

const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/;

/** The chips of a message: attachments, then editor context, without duplicates. */
export function referencesOf(
  attachments: readonly Attachment[],
  context: MessageContext | null,
  trans: TranslationBundle
): IReference[] {
  const chips = [
    ...attachments.map(attachment => ofAttachment(attachment, trans)),
    ...(context === null ? [] : ofContext(context, trans))
  ];
  return [...new Map(chips.map(chip => [chip.key, chip])).values()];
}

function ofContext(
  context: MessageContext,
  trans: TranslationBundle
): IReference[] {
  const { active_document: path, active_cell_id: cellId, selection } = context;
  if (path === null) {
    return [];
  }
  const document = chip('notebook', nameOf(path), { path, cellId });
  if (selection === null) {
    return [document];
  }
  const { cell_id, range, text } = selection;
  const selected = { path, cellId: cell_id, range };
  return [document, chip('cell', selectionText(text, trans), selected, text)];
}

function ofAttachment(
  attachment: Attachment,
  trans: TranslationBundle
): IReference {
  switch (attachment.kind) {
    case 'file': {
      const { path } = attachment;
      const icon = path.endsWith('.ipynb') ? 'notebook' : 'file';
      return chip(icon, nameOf(path), { path });
    }
    case 'folder': {
      const { path } = attachment;
      return chip('folder', nameOf(path), { path, isFolder: true });
    }
    case 'cell': {
      const { path, cell_id: cellId } = attachment;
      const text = trans.__('Cell · %1', nameOf(path));
      return chip('cell', text, { path, cellId });
    }
    case 'selection': {
      const { path, cell_id: cellId, range, text } = attachment;
      const lines = selectionText(text, trans);
      const words = `${lines} · ${nameOf(path)}`;
      return chip('cell', words, { path, cellId, range }, text);
    }
    case 'output': {
      const { path, cell_id: cellId } = attachment;
      const text = trans.__('Output · %1', nameOf(path));
      return chip('run', text, { path, cellId, part: 'output' });
    }
    case 'error': {
      const { path, cell_id: cellId } = attachment;
      const text = trans.__('Error · %1', nameOf(path));
      return chip('error', text, { path, cellId, part: 'output' });
    }
    case 'variable': {
      const { path, name } = attachment;
      return {
        ...chip('variable', visible(name), { path }),
        key: `variable ${path} ${name}`,
        title: trans.__('Variable %1 of %2', visible(name), visible(path))
      };
    }
    case 'mcp_resource': {
      const { server, uri, name } = attachment;
      return {
        key: `mcp_resource ${server} ${uri}`,
        icon: 'file',
        text: visible(name),
        title: trans.__('%1, from the MCP server %2', visible(uri), server),
        opens: { kind: 'nothing' }
      };
    }
    case 'mcp_prompt': {
      const { server, name } = attachment;
      return {
        key: `mcp_prompt ${server} ${name}`,
        icon: 'file',
        text: visible(name),
        title: trans.__('Prompt of the MCP server %1', server),
        opens: { kind: 'nothing' }
      };
    }
    case 'image':
      return picture(attachment, trans);
    case 'thread': {
      const { session_id: session } = attachment;
      return {
        key: `thread ${session}`,
        icon: 'thread',
        text: trans.__('Conversation'),
        title: trans.__('Another conversation'),
        opens: { kind: 'session', session }
      };
    }
  }
}

function picture(
  image: Extract<Attachment, { kind: 'image' }>,
  trans: TranslationBundle
): IReference {
  const { media_type: type, data, blob } = image;
  const shows = data !== null && PICTURE.test(type);
  return {
    key: `image ${blob ?? data ?? ''}`,
    icon: 'image',
    text: trans.__('Image'),
    title: visible(type),
    opens: shows
      ? { kind: 'picture', source: `data:${type};base64,${data}` }
      : { kind: 'nothing' }
  };
}

function chip(
  icon: IconName,
  text: string,
  target: IDocumentTarget,
  about = ''
): IReference {
  const path = visible(target.path);
  return {
    key: JSON.stringify([icon, target]),
    icon,
    text,
    title: about === '' ? path : `${path}\n${visible(about.slice(0, 300))}`,
    opens: { kind: 'target', target }
  };
}

function selectionText(text: string, trans: TranslationBundle): string {
  const lines = text.split('\n').length;
  return trans._n('%1 line selected', '%1 lines selected', lines);
}

function nameOf(path: string): string {
  return visible(path.replace(/\/+$/, '').split('/').at(-1) ?? path) || '/';
}
