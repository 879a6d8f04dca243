/** JupyterLab around one open notebook: a real model in a fake context. */

import type { ISessionContext } from '@jupyterlab/apputils';
import type { ICodeCellModel } from '@jupyterlab/cells';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import { NotebookModel } from '@jupyterlab/notebook';
import type { Contents } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';

import type { IFiles } from '../file-sync/fileSync';
import type { NotebookContext } from '../notebooks/openNotebook';

/** A cell as tests write it. */
export interface ICellSpec {
  id: string;
  source: string;
  outputs?: string[];
  count?: number;
  metadata?: Record<string, unknown>;
  type?: string;
}

/** A notebook file of these cells; each output is a stream of that text. */
export function file(...cells: ICellSpec[]): Record<string, unknown> {
  return {
    cells: cells.map(cell => ({
      cell_type: cell.type ?? 'code',
      id: cell.id,
      source: cell.source,
      metadata: cell.metadata ?? {},
      ...((cell.type ?? 'code') === 'code' && {
        outputs: (cell.outputs ?? []).map(text => ({
          output_type: 'stream',
          name: 'stdout',
          text
        })),
        execution_count: cell.count ?? null
      })
    })),
    metadata: {},
    nbformat: 4,
    nbformat_minor: 5
  };
}

/** The files of the server: one notebook, which others may write. */
export class FakeFiles implements IFiles {
  constructor(public content: Record<string, unknown>) {}

  version = 1;
  reads = 0;

  write(...cells: ICellSpec[]): void {
    this.content = file(...cells);
    this.version += 1;
  }

  get(
    path: string,
    options?: Contents.IFetchOptions
  ): Promise<Contents.IModel> {
    this.reads += options?.content === true ? 1 : 0;
    return Promise.resolve(this.model(path));
  }

  model(path: string): Contents.IModel {
    return {
      path,
      name: path,
      type: 'notebook',
      writable: true,
      created: '',
      last_modified: `modified ${this.version}`,
      mimetype: '',
      content: structuredClone(this.content) as unknown,
      format: 'json',
      hash: `hash ${this.version}`
    };
  }
}

/** JupyterLab's context of a notebook. */
export class FakeContext {
  constructor(readonly files: FakeFiles) {
    this.contentsModel = files.model(this.path);
    this.load();
  }

  /** Load the file as JupyterLab does at first, and when the user reloads it. */
  load(): void {
    this.model.fromJSON(
      this.files.content as unknown as Parameters<NotebookModel['fromJSON']>[0]
    );
    this.model.dirty = false;
    this._updateContentsModel(this.files.model(this.path));
  }

  path = 'a.ipynb';
  readonly model = new NotebookModel();
  readonly ready = Promise.resolve();
  readonly saveState = new Signal<this, DocumentRegistry.SaveState>(this);
  readonly fileChanged = new Signal<this, void>(this);
  readonly pathChanged = new Signal<this, string>(this);
  readonly disposed = new Signal<this, void>(this);
  readonly sessionContext = {
    session: null,
    isDisposed: false,
    kernelChanged: new Signal<this, void>(this),
    statusChanged: new Signal<this, string>(this),
    sessionManager: { findByPath: () => Promise.resolve(undefined) }
  } as unknown as ISessionContext;
  contentsModel: Contents.IModel;
  isDisposed = false;

  get localPath(): string {
    return this.path;
  }

  /** Not part of the interface of JupyterLab's own context. */
  _updateContentsModel(model: Contents.IModel): void {
    this.contentsModel = model;
    this.fileChanged.emit();
  }

  /** Save as JupyterLab does; `duringWrite` is called while the file is written. */
  save(duringWrite: () => void = () => undefined): void {
    this.saveState.emit('started');
    const content = this.model.toJSON() as unknown as Record<string, unknown>;
    duringWrite();
    this.files.content = content;
    this.files.version += 1;
    this.model.dirty = false;
    this._updateContentsModel(this.files.model(this.path));
    this.saveState.emit('completed');
  }

  rename(path: string): void {
    this.path = path;
    this.contentsModel = { ...this.contentsModel, path };
    this.pathChanged.emit(path);
  }

  dispose(): void {
    this.isDisposed = true;
    this.disposed.emit();
    this.model.dispose();
  }

  /** The user types at the end of a cell. */
  type(id: string, text: string): void {
    const cell = this.cell(id);
    const end = cell.getSource().length;
    cell.updateSource(end, end, text);
  }

  cell(id: string): NotebookModel['sharedModel']['cells'][number] {
    const cell = this.model.sharedModel.cells.find(item => item.id === id);
    if (cell === undefined) {
      throw new Error(`no cell ${id}`);
    }
    return cell;
  }

  /** The cells as `[id, source]`. */
  get sources(): [string, string][] {
    return this.model.sharedModel.cells.map(cell => [
      cell.id,
      cell.getSource()
    ]);
  }

  /** The text of a cell's outputs. */
  outputs(id: string): unknown[] {
    const cell = this.cell(id).toJSON() as { outputs?: { text?: unknown }[] };
    return (cell.outputs ?? []).map(output => output.text);
  }

  /** The user runs a cell, which prints this. */
  print(id: string, text: string): void {
    for (const cell of this.model.cells) {
      if (cell.id === id) {
        const { outputs } = cell as ICodeCellModel;
        outputs.fromJSON([{ output_type: 'stream', name: 'stdout', text }]);
      }
    }
  }

  /** The context as the bridge expects it. */
  get context(): NotebookContext {
    return this as unknown as NotebookContext;
  }
}

/** A notebook of these cells, opened. */
export function open(...cells: ICellSpec[]): FakeContext {
  return new FakeContext(new FakeFiles(file(...cells)));
}
