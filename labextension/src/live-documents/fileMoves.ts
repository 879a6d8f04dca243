/**
 * Makes open documents follow the files that the agent moved or removed on the server: JupyterLab knows only of
 * changes made in this page. Made by the texts plugin.
 */

import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { Contents } from '@jupyterlab/services';
import type { ISignal, Signal } from '@lumino/signaling';

import type { FileMoved, FileRemoved, ServerFrame } from '../wire/generated';

/** The members of the contents manager in use. */
export type IMovableFiles = Pick<Contents.IManager, 'get' | 'fileChanged'>;

/** The members of the document manager in use. */
export type IDocuments = Pick<IDocumentManager, 'closeFile'>;

/** The source of server frames. */
export interface IFrames {
  readonly frameReceived: ISignal<unknown, ServerFrame>;
}

/** Follows moves and removals of files. */
export class FileMoves {
  constructor(
    frames: IFrames,
    private readonly files: IMovableFiles,
    private readonly documents: IDocuments,
    private readonly isUnsaved: (path: string) => boolean
  ) {
    frames.frameReceived.connect(this.onFrame, this);
  }

  private readonly onFrame = (_: unknown, frame: ServerFrame): void => {
    if (frame.type === 'file-moved') {
      this.moved(frame).catch((error: unknown) =>
        console.warn(`${frame.path} is not followed:`, error)
      );
    } else if (frame.type === 'file-removed') {
      this.removed(frame);
    }
  };

  /** Announce a rename as the file browser does: editors, kernels and the browser follow it. */
  private async moved({ path, new_path }: FileMoved): Promise<void> {
    const model = await this.files.get(new_path, { content: false });
    this.emitChange({ type: 'rename', oldValue: { path }, newValue: model });
  }

  private removed({ path }: FileRemoved): void {
    if (!this.isUnsaved(path)) {
      void this.documents.closeFile(path);
    }
    this.emitChange({ type: 'delete', oldValue: { path }, newValue: null });
  }

  private emitChange(change: Contents.IChangedArgs): void {
    // The manager's signal is a Signal; its interface hides that it can be emitted.
    const { fileChanged } = this.files as unknown as {
      fileChanged: Signal<unknown, Contents.IChangedArgs>;
    };
    fileChanged.emit(change);
  }
}
