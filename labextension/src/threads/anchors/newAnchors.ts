/** Makes the anchors of new threads from a text and a selection. Pure; used when a thread is started. */

import { remember, characterEnd } from './anchors';
import type { Anchor, TextRange } from '../../wire/generated';
import { cellVersion, textVersion } from '../../wire/versions';

/** UTF-16 units kept of a quote; of a longer selection the beginning. */
const MAX_QUOTE = 20_000;
/** UTF-16 units kept of a whole cell, to identify it after its removal. */
const MAX_CELL_QUOTE = 2_000;

/** The location of a text: a file or a cell of a notebook. */
export interface ITextLocation {
  readonly document: string;
  readonly cellId: string | null;
}

/** The anchor of a range of a text. */
export function anchorOfText(
  { document, cellId }: ITextLocation,
  text: string,
  { from, to }: TextRange
): Anchor {
  const end = characterEnd(text, Math.min(to, from + MAX_QUOTE));
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
    quote:
      output?.quote ?? source.slice(0, characterEnd(source, MAX_CELL_QUOTE)),
    prefix: '',
    suffix: '',
    version: cellVersion(source),
    certainty: 'exact',
    output: output?.output ?? null
  };
}

/** The selected range without surrounding blank lines and spaces; null when it is empty. */
export function trimmedSelection(
  text: string,
  part: TextRange
): TextRange | null {
  const selected = text.slice(part.from, part.to);
  const meant = selected.trim();
  if (meant === '') {
    return null;
  }
  const from = part.from + selected.indexOf(meant);
  return { from, to: from + meant.length };
}
