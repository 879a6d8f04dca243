/** What a restore did, in words. Pure; used by the views and tests. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type {
  CellName,
  KernelDrift,
  KeptCell,
  RestoredDocument,
  RestoreView
} from '../wire/generated';
import { visible } from './visible';

const LISTED = 8;

/** The one line that stands in the conversation. */
export function restoreTitle(
  restore: RestoreView,
  trans: TranslationBundle
): string {
  const { documents, what, undone, undone_turn } = restore;
  if (undone !== null) {
    return trans.__('The restore was taken back');
  }
  const names = documents.map(({ document }) => nameOf(document)).join(', ');
  if (undone_turn !== null && names !== '') {
    return trans.__('The changes of a turn were undone: %1', names);
  }
  if (names === '') {
    return what.includes('conversation')
      ? trans.__('The conversation went back')
      : trans.__('There was nothing to put back');
  }
  return what.includes('conversation')
    ? trans.__('Restored with the conversation: %1', names)
    : trans.__('Restored: %1', names);
}

/** What became of the cells of one document, a sentence each. */
export function documentLines(
  document: RestoredDocument,
  trans: TranslationBundle
): string[] {
  const { error, removed, returned, rewritten, moved, outputs, kept } =
    document;
  if (error !== null) {
    return [trans.__('Not put back: %1', error.message)];
  }
  if (document.file !== null) {
    return [fileLine(document.file, document.proposal_id, trans)];
  }
  const lines = [
    some(removed, n => trans._n('%1 cell removed', '%1 cells removed', n)),
    some(returned, n =>
      trans._n('%1 cell brought back', '%1 cells brought back', n)
    ),
    some(rewritten, n =>
      trans._n('%1 cell has its text back', '%1 cells have their text back', n)
    ),
    some(moved, n => trans._n('%1 cell moved back', '%1 cells moved back', n)),
    some(outputs, n =>
      trans._n(
        '%1 cell has its outputs back',
        '%1 cells have their outputs back',
        n
      )
    ),
    ...kept.map(cell => keptLine(cell, trans))
  ].filter(line => line !== '');
  return lines.length > 0 ? lines : [trans.__('Nothing had to change')];
}

/** What a kernel still holds; empty when there is nothing to tell. */
export function driftLine(
  drift: KernelDrift,
  trans: TranslationBundle
): string {
  const { cells, kernel, document } = drift;
  const name = nameOf(document);
  if (cells.length === 0 || kernel === 'gone') {
    return '';
  }
  if (kernel === 'restarted') {
    return trans.__(
      'The kernel of %1 was restarted since: it holds none of what ran.',
      name
    );
  }
  const titles = listed(cells.map(cell => `“${visible(cell.title)}”`));
  const names = listed([
    ...new Set(cells.flatMap(cell => cell.names.map(visible)))
  ]);
  const ran =
    kernel === 'same'
      ? trans.__('The kernel of %1 still holds what ran: %2.', name, titles)
      : trans.__('The kernel of %1 may still hold what ran: %2.', name, titles);
  return names === '' ? ran : `${ran} ${trans.__('It defined %1.', names)}`;
}

/** Whether restarting the kernel would help. */
export function holds({ cells, kernel }: KernelDrift): boolean {
  return cells.length > 0 && (kernel === 'same' || kernel === 'unknown');
}

function fileLine(
  file: NonNullable<RestoredDocument['file']>,
  proposal: string | null,
  trans: TranslationBundle
): string {
  switch (file) {
    case 'rewritten':
      return trans.__('The file has its text back');
    case 'merged':
      return trans.__(
        'The file has its text back; what you changed since stays'
      );
    case 'removed':
      return trans.__('The file was moved to the trash');
    case 'returned':
      return trans.__('The file was brought back');
    case 'moved':
      return trans.__('The file has its name back');
    case 'kept':
      return proposal === null
        ? trans.__('The file was kept: you changed it since')
        : trans.__(
            'The file was kept: you changed it since. Its earlier text is proposed below.'
          );
  }
}

function keptLine(
  { title, reason, proposal_id }: KeptCell,
  trans: TranslationBundle
): string {
  const shown = visible(title);
  switch (reason) {
    case 'changed':
      return proposal_id === null
        ? trans.__('“%1” was kept: you changed it since', shown)
        : trans.__(
            '“%1” was kept: you changed it since. Its earlier text is proposed below.',
            shown
          );
    case 'run':
      return trans.__('“%1” kept its outputs: you ran it since', shown);
    case 'protected':
      return trans.__('“%1” was kept: it is protected', shown);
    case 'unknown':
      return trans.__(
        '“%1” kept its outputs: what they come from is not known',
        shown
      );
  }
}

function some(
  cells: readonly CellName[],
  say: (count: number) => string
): string {
  const { length } = cells;
  return length === 0 ? '' : say(length);
}

function listed(items: readonly string[]): string {
  const shown = items.slice(0, LISTED).map(visible).join(', ');
  return items.length > LISTED ? `${shown}, …` : shown;
}

function nameOf(path: string): string {
  return visible(path.split('/').at(-1) ?? path);
}
