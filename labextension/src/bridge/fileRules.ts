/** The rules by which a notebook takes up its file: loaded by `FileWatch` when others have written one. */

export { identified } from './identify';
export { merge, mergeWhole } from './merge';
