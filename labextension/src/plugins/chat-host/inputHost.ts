/**
 * The chat input's access to JupyterLab: cells, drag and clipboard, uploads, instructions. Loaded with the panel by
 * the chat plugin's host.
 */

import { Clipboard } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import type { ICell } from '@jupyterlab/nbformat';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Contents } from '@jupyterlab/services';
import type { CommandRegistry } from '@lumino/commands';

import type {
  IDraggedContent,
  ICellInfo,
  IInputHost
} from '../../host/inputHost';
import { ApiError, plainError } from '../../client/http';
import { createServerLookups } from '../../host/serverLookups';
import { EXTENSION_ID } from '../../tokens';
import type { Attachment } from '../../wire/generated';
import { openInstructions } from '../../lab/instructionsFile';
import type { ILabParts } from './labParts';

const CELLS = 'application/vnd.jupyter.cells';
const FILES = 'application/x-jupyter-icontents';

/** Largest upload from the chat, in bytes; larger files need JupyterLab's own upload. */
const UPLOAD_LIMIT = 50_000_000;

/** Characters shown of a cell's first line. */
const LINE = 80;

/** Make the input's host; it lives as long as the page. */
export function createInputHost(parts: ILabParts): IInputHost {
  const { app, http, notebooks, trans } = parts;
  const { contents } = app.serviceManager;
  const copies = new CellCopies(app.commands);
  return {
    lookups: createServerLookups(http),
    cellsOf: path => cellsOf(find(notebooks, path)),
    attachmentsOfDrag: data => attachmentsOfDrag(data, contents, notebooks),
    copiedCells: text => cellsNamed(copies.cells(text), notebooks),
    upload: (file, signal) =>
      upload(file, signal, folderOf(parts), contents, trans),
    openInstructions: () => openInstructions(contents, parts.documents, trans),
    openSettings: (section, add = false) => {
      const command = `${EXTENSION_ID}:open-settings`;
      const known = app.commands.hasCommand(command);
      if (known) {
        void app.commands.execute(
          command,
          section === undefined ? {} : { section, add }
        );
      }
      return known;
    },
    openDatabase: () =>
      void app.commands.execute(`${EXTENSION_ID}:open-agent-database`),
    schedule: start => {
      const command = start === null ? 'open-schedules' : 'schedule';
      void app.commands.execute(`${EXTENSION_ID}:${command}`, { ...start });
    }
  };
}

// Cells

function find(
  notebooks: INotebookTracker | null,
  path: string
): NotebookPanel | undefined {
  return notebooks?.find(
    panel => pathOf(panel) === path || panel.context.path === path
  );
}

function pathOf(panel: NotebookPanel): string {
  // Collaboration prefixes the path with a drive; the server knows it without.
  return panel.context.localPath;
}

function cellsOf(panel: NotebookPanel | undefined): ICellInfo[] {
  const cells = panel?.model?.sharedModel.cells ?? [];
  return cells.map((cell, index) => ({
    id: cell.getId(),
    number: index + 1,
    type: cell.cell_type,
    line: firstLine(cell.getSource()),
    hasError: hasError(cell.toJSON())
  }));
}

function firstLine(source: string): string {
  const line = source.split('\n').find(text => text.trim() !== '') ?? '';
  return line.trim().slice(0, LINE);
}

function hasError(cell: object): boolean {
  const outputs: unknown = 'outputs' in cell ? cell.outputs : [];
  return (
    Array.isArray(outputs) &&
    outputs.some((output: { output_type?: unknown }) => {
      return output.output_type === 'error';
    })
  );
}

/** The cells as attachments; cells of closed notebooks are left out. */
function cellsNamed(
  cells: readonly ICell[],
  notebooks: INotebookTracker | null
): Attachment[] {
  return cells.flatMap(({ id }): Attachment[] => {
    const home = notebooks?.find(panel =>
      cellsOf(panel).some(cell => cell.id === id)
    );
    return home === undefined || typeof id !== 'string'
      ? []
      : [{ kind: 'cell', path: pathOf(home), cell_id: id }];
  });
}

/** Knows whether the last copy was of cells. */
class CellCopies {
  constructor(commands: CommandRegistry) {
    commands.commandExecuted.connect((_, { id }) => {
      if (id === 'notebook:copy-cell' || id === 'notebook:cut-cell') {
        this.fresh = true;
      }
    });
    // JupyterLab keeps cells in its own clipboard; text copied later takes precedence.
    for (const event of ['copy', 'cut'] as const) {
      document.addEventListener(event, this.forget, true);
    }
    window.addEventListener('blur', this.forget);
  }

  /** The copied cells; `text` is the browser clipboard's, which JupyterLab can be configured to use. */
  cells(text: string): ICell[] {
    const clipboard = Clipboard.getInstance();
    const held: unknown =
      this.fresh && clipboard.hasData(CELLS)
        ? clipboard.getData(CELLS)
        : parsed(text);
    return Array.isArray(held) ? held.filter(isCell) : [];
  }

  private readonly forget = (): void => {
    this.fresh = false;
  };

  private fresh = false;
}

function parsed(text: string): unknown {
  if (!text.startsWith('[{')) {
    return null;
  }
  try {
    return JSON.parse(text);
  } catch {
    return null; // Text that only begins like cells.
  }
}

function isCell(value: unknown): value is ICell {
  return typeof value === 'object' && value !== null && 'cell_type' in value;
}

// Files

async function attachmentsOfDrag(
  data: IDraggedContent,
  contents: Contents.IManager,
  notebooks: INotebookTracker | null
): Promise<Attachment[]> {
  if (data.hasData(CELLS)) {
    const cells: unknown = data.getData(CELLS);
    return Array.isArray(cells)
      ? cellsNamed(cells.filter(isCell), notebooks)
      : [];
  }
  const paths: unknown = data.hasData(FILES) ? data.getData(FILES) : [];
  const files = Array.isArray(paths)
    ? paths.filter(path => typeof path === 'string')
    : [];
  return Promise.all(files.map(path => fileNamed(path, contents)));
}

async function fileNamed(
  path: string,
  contents: Contents.IManager
): Promise<Attachment> {
  const { type } = await contents.get(path, { content: false });
  const kind = type === 'directory' ? 'folder' : 'file';
  return { kind, path: contents.localPath(path) };
}

/** The folder for a file from outside: beside the current document. */
function folderOf({ app, documents, notebooks }: ILabParts): string {
  const { currentWidget } = app.shell;
  const context =
    (currentWidget && documents.contextForWidget(currentWidget)) ??
    notebooks?.currentWidget?.context;
  return context === undefined ? '' : PathExt.dirname(context.localPath);
}

async function upload(
  file: File,
  signal: AbortSignal,
  folder: string,
  contents: Contents.IManager,
  trans: ILabParts['trans']
): Promise<string> {
  if (file.size > UPLOAD_LIMIT) {
    throw userError(
      trans.__(
        '%1 is too large to attach. Upload it with the file browser, then mention it with @.',
        file.name
      )
    );
  }
  const path = await freeName(PathExt.join(folder, file.name), contents);
  const content = base64(new Uint8Array(await file.arrayBuffer()));
  signal.throwIfAborted();
  await contents
    .save(path, { type: 'file', format: 'base64', content })
    .catch((reason: unknown) => {
      throw userError(
        trans.__(
          '%1 could not be saved in the workspace: %2',
          file.name,
          String(reason)
        )
      );
    });
  if (signal.aborted) {
    await contents.delete(path); // JupyterLab's save cannot be cancelled; the name was free before.
  }
  return path;
}

/** An error with a message for the user. */
function userError(words: string): ApiError {
  return new ApiError(0, plainError(words, false));
}

/** The path, or a similar one that no file has. */
async function freeName(
  path: string,
  contents: Contents.IManager
): Promise<string> {
  const end = PathExt.extname(path);
  const stem = path.slice(0, path.length - end.length);
  for (let count = 0; ; count++) {
    const name = count === 0 ? path : `${stem}-${count}${end}`;
    if (!(await exists(contents, name))) {
      return name;
    }
  }
}

async function exists(
  contents: Contents.IManager,
  path: string
): Promise<boolean> {
  try {
    await contents.get(path, { content: false });
    return true;
  } catch (error) {
    if (statusOf(error) === 404) {
      return false;
    }
    throw error;
  }
}

function statusOf(error: unknown): number | undefined {
  return error instanceof Error && 'response' in error
    ? (error.response as Response).status // JupyterLab's `ResponseError`.
    : undefined;
}

function base64(bytes: Uint8Array): string {
  const PIECE = 0x8000;
  let text = '';
  for (let at = 0; at < bytes.length; at += PIECE) {
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  }
  return btoa(text);
}
