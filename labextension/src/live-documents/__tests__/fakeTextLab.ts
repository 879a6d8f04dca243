/** JupyterLab around one open text file: a real model in a fake context. */

import { DocumentModel, type DocumentRegistry } from '@jupyterlab/docregistry';
import { YFile } from '@jupyter/ydoc';
import type { Contents } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';

import type { IFiles } from '../file-sync/fileSync';
import type { TextContext } from '../file-sync/openText';

/** The files of the server: one text, which others may write. */
export class FakeTextFiles implements IFiles {
  constructor(public content: string) {}

  version = 1;
  reads = 0;

  write(content: string): void {
    this.content = content;
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
      type: 'file',
      writable: true,
      created: '',
      last_modified: `modified ${this.version}`,
      mimetype: 'text/plain',
      content: this.content,
      format: 'text',
      hash: `hash ${this.version}`
    };
  }
}

/** JupyterLab's context of a text file. */
export class FakeTextContext {
  constructor(readonly files: FakeTextFiles) {
    this.contentsModel = files.model(this.path);
    this.load();
  }

  /** Load the file as JupyterLab does at first, and when the user reloads it. */
  load(): void {
    const { content } = this.files;
    this._lineEnding = content.includes('\r\n') ? '\r\n' : null;
    this.model.fromString(content.replace(/\r\n/g, '\n'));
    this.model.dirty = false;
    this.shared.clearUndoHistory();
    this._updateContentsModel(this.files.model(this.path));
  }

  path = 'a.py';
  readonly shared = YFile.create();
  readonly model = new DocumentModel({ sharedModel: this.shared });
  readonly ready = Promise.resolve();
  readonly saveState = new Signal<this, DocumentRegistry.SaveState>(this);
  readonly fileChanged = new Signal<this, void>(this);
  readonly pathChanged = new Signal<this, string>(this);
  readonly disposed = new Signal<this, void>(this);
  contentsModel: Contents.IModel;
  isDisposed = false;
  saves = 0;
  /** Called while a file is written. */
  duringWrite = (): void => undefined;
  _lineEnding: string | null = null;

  get localPath(): string {
    return this.path;
  }

  /** Not part of the interface of JupyterLab's own context. */
  _updateContentsModel(model: Contents.IModel): void {
    this.contentsModel = model;
    this.fileChanged.emit();
  }

  /** Save as JupyterLab does. */
  save(): Promise<void> {
    this.saves += 1;
    this.saveState.emit('started');
    const text = this.model.toString();
    this.duringWrite();
    this.files.write(text.replace(/\n/g, this._lineEnding ?? '\n'));
    this.model.dirty = false;
    this._updateContentsModel(this.files.model(this.path));
    this.saveState.emit('completed');
    return Promise.resolve();
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

  /** The user types at the end. */
  type(text: string): void {
    const end = this.text.length;
    this.shared.updateSource(end, end, text);
  }

  get text(): string {
    return this.shared.getSource();
  }

  /** The context as the bridge expects it. */
  get context(): TextContext {
    return this as unknown as TextContext;
  }
}

/** A file with this text, opened. */
export function openText(content: string): FakeTextContext {
  return new FakeTextContext(new FakeTextFiles(content));
}
