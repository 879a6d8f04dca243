/** Places and states of threads in words; used by the list and by what stands above a thread. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { ThreadFilter } from '../../model/thread-list';
import type { Anchor, Session } from '../../wire/generated';
import type { IconName } from '../host';

/** Characters of a quote that are shown when the pointer rests on it. */
const SHOWN = 600;

/** Where a thread is in its document; null says nothing beyond the document. */
export function nameOfPlace(
  anchor: Anchor,
  number: number | null,
  line: number | null,
  trans: TranslationBundle
): string | null {
  if (anchor.cell_id === null) {
    return line === null ? null : trans.__('Line %1', line);
  }
  if (anchor.target === 'output') {
    return number === null
      ? trans.__('Output')
      : trans.__('Output of cell %1', number);
  }
  return number === null ? trans.__('Cell') : trans.__('Cell %1', number);
}

export function iconOfPlace(anchor: Anchor): IconName {
  return anchor.cell_id === null ? 'file' : 'cell';
}

/** A quote in one line. */
export function quoteLine({ quote }: Anchor): string {
  const lines = quote.trim().split('\n');
  const [first = ''] = lines;
  return lines.length > 1 ? `${first} …` : first;
}

/** A quote as it is, as far as a tooltip goes. */
export function quoteText({ quote }: Anchor): string {
  return quote.length > SHOWN ? `${quote.slice(0, SHOWN)} …` : quote;
}

export function nameOfStatus(
  status: Session['status'],
  trans: TranslationBundle
): string {
  switch (status) {
    case 'idle':
      return trans.__('Open');
    case 'running':
      return trans.__('Working');
    case 'waiting':
      return trans.__('Waits for you');
    case 'error':
      return trans.__('Failed');
    case 'interrupted':
      return trans.__('Interrupted');
    case 'resolved':
      return trans.__('Resolved');
  }
}

export function nameOfFilter(
  filter: ThreadFilter,
  trans: TranslationBundle
): string {
  switch (filter) {
    case 'open':
      return trans.__('Not resolved');
    case 'waiting':
      return trans.__('Waiting for you');
    case 'running':
      return trans.__('Working');
    case 'stopped':
      return trans.__('Failed or interrupted');
    case 'lost':
      return trans.__('Place gone');
    case 'resolved':
      return trans.__('Resolved');
  }
}
