/** Labels for anchors and states of threads. Used by the list and the thread bar. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { isWordDocument } from '../../live-documents/wordPages';
import type { ThreadFilter } from '../../model/view-models/threadList';
import type { Anchor } from '../../wire/generated';
import type { IconName } from '../../host/chatHost';
import type { ICurrentLocation } from './useThreads';

/** The location of a thread in its document; null if there is nothing beyond the document. */
export function locationName(
  { anchor, number, line }: ICurrentLocation,
  trans: TranslationBundle
): string | null {
  if (anchor.cell_id === null) {
    if (line === null) {
      return null;
    }
    return isWordDocument(anchor.document)
      ? trans.__('Paragraph %1', line)
      : trans.__('Line %1', line);
  }
  if (anchor.target === 'output') {
    return number === null
      ? trans.__('Output')
      : trans.__('Output of cell %1', number);
  }
  return number === null ? trans.__('Cell') : trans.__('Cell %1', number);
}

export function locationIcon(anchor: Anchor): IconName {
  return anchor.cell_id === null ? 'file' : 'cell';
}

/** A quote in one line. */
export function quoteLine({ quote }: Anchor): string {
  const lines = quote.trim().split('\n');
  const [first = ''] = lines;
  return lines.length > 1 ? `${first} …` : first;
}

/** The quote, cut to a number of characters. */
export function quoteText({ quote }: Anchor, most: number): string {
  return quote.length > most ? `${quote.slice(0, most)} …` : quote;
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
      return trans.__('Not in document');
    case 'resolved':
      return trans.__('Resolved');
  }
}
