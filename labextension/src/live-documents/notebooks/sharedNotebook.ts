/** The shared notebook as this package uses it: JupyterLab's interface plus the Y-side members. */

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
