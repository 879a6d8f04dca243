/** Makes the anchors of new threads, from a text and what of it is meant. Pure; used by the start of threads. */

import { remember, whole } from './anchors';
import type { Anchor, TextRange } from '../../wire/generated';
import { cellVersion, textVersion } from '../../wire/versions';

/** UTF-16 units of a quote that are kept; of a longer selection its beginning is meant. */
const LONGEST_QUOTE = 20_000;
/** UTF-16 units of a whole cell that are kept, to know it by when it is gone. */
const LONGEST_CELL = 2_000;

/** Where a text is: a file, or a cell of a notebook. */
export interface ITextPlace {
  readonly document: string;
  readonly cellId: string | null;
}

/** The anchor of a part of a text. */
export function anchorOfText(
  { document, cellId }: ITextPlace,
  text: string,
  { from, to }: TextRange
): Anchor {
  const end = whole(text, Math.min(to, from + LONGEST_QUOTE));
  return {
    document,
    cell_id: cellId,
    target: 'source',
    range: { from, to: end },
    ...remember(text, { from, to: end }),
    version: cellId === null ? textVersion(text) : cellVersion(text),
    certainty: 'exact',
    output: null
  };
}

/** The anchor of a whole cell, or of one of its outputs. */
export function anchorOfCell(
  document: string,
  cellId: string,
  source: string,
  output: Pick<Anchor, 'quote' | 'output'> | null
): Anchor {
  return {
    document,
    cell_id: cellId,
    target: output === null ? 'cell' : 'output',
    range: null,
    quote: output?.quote ?? source.slice(0, whole(source, LONGEST_CELL)),
    prefix: '',
    suffix: '',
    version: cellVersion(source),
    certainty: 'exact',
    output: output?.output ?? null
  };
}

/** The part of a text that is meant: without the blank lines and spaces around it; null when nothing is left. */
export function meantPart(text: string, part: TextRange): TextRange | null {
  const selected = text.slice(part.from, part.to);
  const meant = selected.trim();
  if (meant === '') {
    return null;
  }
  const from = part.from + selected.indexOf(meant);
  return { from, to: from + meant.length };
}
