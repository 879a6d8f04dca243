/**
 * Lets chat messages use JupyterLab: open targets, insert code, typeset formulas, read images. Made by `chatHost`.
 */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { PathExt } from '@jupyterlab/coreutils';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { IEditorTracker } from '@jupyterlab/fileeditor';
import { NotebookActions, type INotebookTracker } from '@jupyterlab/notebook';
import type { ILatexTypesetter } from '@jupyterlab/rendermime';
import type { Contents } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { IMessageHost } from '../../host/messageHost';
import { openTarget } from '../../lab/documentTarget';
import { Typesetter } from '../../lab/typesetter';

/** Largest image shown, in bytes. */
const MAX_IMAGE_SIZE = 8_000_000;

const PICTURES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.svg': 'image/svg+xml'
};

/** Services used by messages. */
export interface IMessageParts {
  readonly app: JupyterFrontEnd;
  readonly documents: IDocumentManager;
  readonly languages: IEditorLanguageRegistry;
  readonly notebooks: INotebookTracker | null;
  readonly editors: IEditorTracker | null;
  readonly latex: ILatexTypesetter | null;
  readonly trans: TranslationBundle;
}

/** Make the messages' host; `current` returns the current document. */
export function createMessageHost(
  parts: IMessageParts,
  current: () => string | null
): IMessageHost {
  return {
    openTarget: target => openTarget(parts, target),
    replaceCell: (source, language) =>
      replaceCell(parts.notebooks, source, language),
    newFile: (source, language) => newFile(parts, current(), source, language),
    typeset: new Typesetter(parts.latex).typeset,
    readImage: path => readImage(parts, current(), path)
  };
}

/** Replace the active cell's code in one step of the cell's own undo. */
function replaceCell(
  notebooks: INotebookTracker | null,
  source: string,
  language: string
): boolean {
  const notebook = notebooks?.currentWidget?.content;
  if (notebook === undefined || !canWrite(notebook)) {
    return false;
  }
  const type = /^(markdown|md)$/i.test(language) ? 'markdown' : 'code';
  if (notebook.activeCell?.model.type !== type) {
    NotebookActions.changeCellType(notebook, type);
  }
  const text = notebook.activeCell?.model.sharedModel;
  text?.transact(() => {
    text.updateSource(0, text.getSource().length, source);
  });
  return text !== undefined;
}

type Notebook = NonNullable<INotebookTracker['currentWidget']>['content'];

/** Whether the active cell is editable. */
function canWrite({ activeCell, model }: Notebook): boolean {
  return (
    activeCell !== null &&
    activeCell.model.getMetadata('editable') !== false &&
    model?.readOnly !== true
  );
}

/** Usual file extensions where JupyterLab's list begins with another. */
const ENDINGS: Readonly<Record<string, string>> = {
  python: 'py',
  ipython: 'py',
  r: 'r',
  julia: 'jl',
  bash: 'sh',
  shell: 'sh',
  javascript: 'js',
  typescript: 'ts',
  markdown: 'md'
};

/** The file extension of a language: the usual one, one named like the language, or JupyterLab's first. */
function extensionOf(language: string, known: readonly string[]): string {
  const name = language.toLowerCase();
  const usual = ENDINGS[name] ?? known.find(ending => ending === name);
  return usual ?? known[0] ?? 'txt';
}

/** Create a file beside the active document, write the code and open it. */
async function newFile(
  parts: IMessageParts,
  document: string | null,
  source: string,
  language: string
): Promise<void> {
  const { documents, languages } = parts;
  const known = language === '' ? null : languages.findBest(language);
  const made = await documents.newUntitled({
    type: 'file',
    path: document === null ? '' : PathExt.dirname(document),
    ext: `.${extensionOf(language, known?.extensions ?? [])}`
  });
  await documents.services.contents.save(made.path, {
    type: 'file',
    format: 'text',
    content: source.endsWith('\n') ? source : `${source}\n`
  });
  documents.openOrReveal(made.path);
}

/** An image at a path from the root or relative to the active document. */
async function readImage(
  parts: IMessageParts,
  document: string | null,
  path: string
): Promise<Blob> {
  const { contents } = parts.documents.services;
  const folder = document === null ? '' : PathExt.dirname(document);
  try {
    return await readPicture(contents, path);
  } catch (error) {
    if (folder === '') {
      throw error;
    }
    return readPicture(contents, PathExt.join(folder, path));
  }
}

async function readPicture(
  contents: Contents.IManager,
  path: string
): Promise<Blob> {
  const type = PICTURES[PathExt.extname(path).toLowerCase()];
  const { size } = await contents.get(path, { content: false });
  if (type === undefined || (size ?? 0) > MAX_IMAGE_SIZE) {
    throw new Error(`${path} is no picture that could be shown here.`);
  }
  const file = await contents.get(path, {
    content: true,
    type: 'file',
    format: 'base64'
  });
  const content: unknown = file.content;
  if (file.format !== 'base64' || typeof content !== 'string') {
    throw new Error(`${path} did not come as a picture.`);
  }
  const bytes = Uint8Array.from(atob(content), char => char.charCodeAt(0));
  return new Blob([bytes], { type });
}
