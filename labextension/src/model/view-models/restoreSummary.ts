/** Describes a restore. Pure; used by views and tests. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type {
  CellName,
  KernelDrift,
  UnrestoredCell,
  RestoredDocument,
  RestoreView
} from '../../wire/generated';
import { visible } from '../../text/hiddenCharacters';

const LISTED = 8;

/** The line shown in the conversation. */
export function restoreTitle(
  restore: RestoreView,
  trans: TranslationBundle
): string {
  const { documents, what, undone, undone_turn } = restore;
  if (undone !== null) {
    return trans.__('The restore was undone');
  }
  const names = documents.map(({ document }) => nameOf(document)).join(', ');
  if (undone_turn !== null && names !== '') {
    return trans.__('The changes of a turn were undone: %1', names);
  }
  if (names === '') {
    return what.includes('conversation')
      ? trans.__('The conversation was restored')
      : trans.__('There was nothing to restore');
  }
  return what.includes('conversation')
    ? trans.__('Restored with the conversation: %1', names)
    : trans.__('Restored: %1', names);
}

/** What happened to the cells of one document, a sentence each. */
export function documentLines(
  document: RestoredDocument,
  trans: TranslationBundle
): string[] {
  const { error, removed, returned, rewritten, moved, outputs, kept } =
    document;
  if (error !== null) {
    return [trans.__('Not restored: %1', error.message)];
  }
  if (document.file !== null) {
    return [fileLine(document.file, document.proposal_id, trans)];
  }
  const lines = [
    some(removed, n => trans._n('%1 cell removed', '%1 cells removed', n)),
    some(returned, n => trans._n('%1 cell restored', '%1 cells restored', n)),
    some(rewritten, n =>
      trans._n('Text of %1 cell restored', 'Text of %1 cells restored', n)
    ),
    some(moved, n => trans._n('%1 cell moved back', '%1 cells moved back', n)),
    some(outputs, n =>
      trans._n('Outputs of %1 cell restored', 'Outputs of %1 cells restored', n)
    ),
    ...kept.map(cell => keptLine(cell, trans))
  ].filter(line => line !== '');
  return lines.length > 0 ? lines : [trans.__('No changes needed')];
}

/** What a kernel still holds; empty when there is nothing to report. */
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
      'The kernel of %1 has been restarted since and no longer holds what these cells did.',
      name
    );
  }
  const titles = listed(cells.map(cell => `“${visible(cell.title)}”`));
  const names = listed([
    ...new Set(cells.flatMap(cell => cell.names.map(visible)))
  ]);
  const ran =
    kernel === 'same'
      ? trans.__(
          'The kernel of %1 still holds what these cells did: %2.',
          name,
          titles
        )
      : trans.__(
          'The kernel of %1 may still hold what these cells did: %2.',
          name,
          titles
        );
  return names === '' ? ran : `${ran} ${trans.__('They defined %1.', names)}`;
}

/** Whether restarting the kernel would help. */
export function hasKernelState({ cells, kernel }: KernelDrift): boolean {
  return cells.length > 0 && (kernel === 'same' || kernel === 'unknown');
}

function fileLine(
  file: NonNullable<RestoredDocument['file']>,
  proposal: string | null,
  trans: TranslationBundle
): string {
  switch (file) {
    case 'rewritten':
      return trans.__('File text restored');
    case 'merged':
      return trans.__('File text restored; your later changes are kept');
    case 'removed':
      return trans.__('File moved to the trash');
    case 'returned':
      return trans.__('File restored');
    case 'moved':
      return trans.__('File name restored');
    case 'kept':
      return proposal === null
        ? trans.__('File kept: you have changed it since')
        : trans.__(
            'File kept: you have changed it since. Its earlier text is proposed below.'
          );
  }
}

function keptLine(
  { title, reason, proposal_id }: UnrestoredCell,
  trans: TranslationBundle
): string {
  const shown = visible(title);
  switch (reason) {
    case 'changed':
      return proposal_id === null
        ? trans.__('“%1” was kept: you have changed it since', shown)
        : trans.__(
            '“%1” was kept: you have changed it since. Its earlier text is proposed below.',
            shown
          );
    case 'run':
      return trans.__('“%1” kept its outputs: you have run it since', shown);
    case 'protected':
      return trans.__('“%1” was kept: it is protected', shown);
    case 'unknown':
      return trans.__('“%1” kept its outputs: their source is unknown', shown);
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
