/** The rules by which a notebook takes up its file: loaded by `NotebookFileSync` when others have written one. */

export { assignCellIds } from './cellIds';
export { merge, mergeWhole } from './notebookMerge';
