/** The shared notebook: JupyterLab's interface plus the Y-side members in use. */

import type { YCellType, YNotebook } from '@jupyter/ydoc';

/** A shared notebook whose cells carry their undo managers. */
export interface ISharedNotebookWithCells extends Pick<
  YNotebook,
  | 'deleteCell'
  | 'insertCell'
  | 'metadata'
  | 'moveCell'
  | 'transact'
  | 'undoManager'
  | 'ydoc'
> {
  readonly cells: YCellType[];
}
