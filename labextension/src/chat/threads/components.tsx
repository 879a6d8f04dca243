/** Where a thread is, as its row in the list and what stands above it show it. */

import * as React from 'react';

import { legible, visible } from '../../text/hiddenCharacters';
import type { Anchor } from '../../wire/generated';
import { nameOf } from '../../ui/attachmentLabels';
import { quoteLine, quoteText } from './labels';

/** Characters of a quote that are shown when the pointer rests on it. */
const SHOWN = 600;

/** The name of a document; its path when the pointer rests on it. */
export function DocumentName({ path }: { path: string }): React.JSX.Element {
  return (
    <span className="shoulders-ThreadRow-document" title={visible(path)}>
      {visible(nameOf(path))}
    </span>
  );
}

/** The text a thread is about, in one line. */
export function Quote({
  anchor
}: {
  anchor: Anchor;
}): React.JSX.Element | null {
  const line = quoteLine(anchor);
  return line === '' ? null : (
    <q className="shoulders-Quote" title={legible(quoteText(anchor, SHOWN))}>
      {legible(line)}
    </q>
  );
}
