/** The texts of a citation: its file, the place in it, its accessible name. Pure. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { ICitedSource } from '../../model/view-models/citedSources';
import { visible } from '../../text/hiddenCharacters';

/** The file's name. */
export function fileLabel({ citation }: ICitedSource): string {
  return visible(citation.path.slice(citation.path.lastIndexOf('/') + 1));
}

/** The heading, else the line or cell; empty for a whole file. */
export function placeLabel(
  { citation, passage }: ICitedSource,
  trans: TranslationBundle
): string {
  const heading = visible(passage?.heading ?? '');
  if (heading !== '') {
    return heading;
  }
  if (citation.line !== null) {
    return trans.__('Line %1', citation.line);
  }
  return citation.cellId === null ? '' : trans.__('Cell %1', citation.cellId);
}

/** The accessible name. */
export function citationLabel(
  source: ICitedSource,
  trans: TranslationBundle
): string {
  const { number } = source;
  const place = placeLabel(source, trans);
  return place === ''
    ? trans.__('Source %1: %2', number, fileLabel(source))
    : trans.__('Source %1: %2, %3', number, fileLabel(source), place);
}
