/** The document and quote of a thread, for the list and the thread bar. */

import * as React from 'react';

import { legible, visible } from '../../text/hiddenCharacters';
import type { Anchor } from '../../wire/generated';
import { nameOf } from '../../ui/attachmentLabels';
import { quoteLine, quoteText } from './labels';

/** Longest quote in a tooltip, in characters. */
const MAX_QUOTE = 600;

/** The name of a document, with its path as tooltip. */
export function DocumentName({ path }: { path: string }): React.JSX.Element {
  return (
    <span className="shoulders-ThreadRow-document" title={visible(path)}>
      {visible(nameOf(path))}
    </span>
  );
}

/** The quote of a thread in one line. */
export function Quote({
  anchor
}: {
  anchor: Anchor;
}): React.JSX.Element | null {
  const line = quoteLine(anchor);
  return line === '' ? null : (
    <q
      className="shoulders-Quote"
      title={legible(quoteText(anchor, MAX_QUOTE))}
    >
      {legible(line)}
    </q>
  );
}
