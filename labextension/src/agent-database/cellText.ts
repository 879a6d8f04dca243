/** Texts of the cells of the agent's database. Pure. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { visible } from '../text/hiddenCharacters';
import type { DatabasePage } from '../wire/generated';

export type Cell = DatabasePage['rows'][number][number];

/** How a cell is shown: its text, and what kind of value it is. */
export interface ICellText {
  readonly kind: 'null' | 'empty' | 'text' | 'number' | 'bytes';
  readonly text: string;
  /** What is not shown, in words. */
  readonly more?: string;
}

/** The text of a cell; line ends stay, hidden characters are shown as codes. */
export function cellText(cell: Cell, trans: TranslationBundle): ICellText {
  if (cell === null) {
    return { kind: 'null', text: 'NULL' };
  }
  if (cell === '') {
    return { kind: 'empty', text: trans.__('empty text') };
  }
  if (typeof cell === 'string') {
    return { kind: 'text', text: visible(cell) };
  }
  if (typeof cell === 'number') {
    return { kind: 'number', text: String(cell) };
  }
  if ('integer' in cell) {
    return { kind: 'number', text: cell.integer };
  }
  if ('real' in cell) {
    return { kind: 'number', text: cell.real };
  }
  if ('bytes' in cell) {
    return {
      kind: 'bytes',
      text: trans._n('%1 byte', '%1 bytes', cell.bytes)
    };
  }
  const more = trans.__('%1 characters', cell.characters);
  return { kind: 'text', text: `${visible(cell.text)}…`, more };
}
