/** What marks the bibliography cell of a notebook, and whether its text is still what was written last. Pure. */

import { cellVersion } from '../wire/versions';

export const BIBLIOGRAPHY_TAG = 'bibliography';
/** The key of the cell's metadata with the style and the version of the text that was written. */
export const BIBLIOGRAPHY_KEY = 'bibliography';

/** The metadata of a bibliography cell. */
export interface IBibliographyMark {
  readonly style: string;
  /** The version of the text that was written last. */
  readonly written: string;
}

/** The metadata of a cell with this text. */
export function markOf(style: string, source: string): IBibliographyMark {
  return { style, written: cellVersion(source) };
}

/** The mark of a cell by its metadata; null for other cells. */
export function readMark(metadata: unknown): IBibliographyMark | null {
  if (typeof metadata !== 'object' || metadata === null) {
    return null;
  }
  const { style, written } = metadata as Record<string, unknown>; // JSON of a file
  return typeof style === 'string' && typeof written === 'string'
    ? { style, written }
    : null;
}

/** What an update may do with a cell: nothing to do, write, or leave what a user typed. */
export function updateOf(
  source: string,
  mark: IBibliographyMark,
  wanted: string
): 'none' | 'write' | 'edited' {
  if (source === wanted) {
    return 'none';
  }
  return cellVersion(source) === mark.written ? 'write' : 'edited';
}
