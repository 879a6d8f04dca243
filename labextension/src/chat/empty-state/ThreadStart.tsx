/** A thread before its first message: what it is about, and what could be asked. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { legible } from '../../text/hiddenCharacters';
import type { Anchor } from '../../wire/generated';
import { IdeaButtons } from './IdeaButtons';
import { useHost, useTrans } from '../../ui/hooks';
import { quoteText } from '../threads/labels';

/** Characters of the quote that are shown. */
const SHOWN = 2000;

export function ThreadStart({ anchor }: { anchor: Anchor }): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  return (
    <>
      <div className="shoulders-Empty-greeting">
        <Icon name="thread" />
        <h2>{heading(anchor, trans)}</h2>
      </div>
      {anchor.quote !== '' && (
        <pre className="shoulders-ThreadStart-quote" tabIndex={0}>
          {legible(quoteText(anchor, SHOWN))}
        </pre>
      )}
      <IdeaButtons ideas={ideasAt(anchor, trans)} />
    </>
  );
}

function heading({ target }: Anchor, trans: TranslationBundle): string {
  switch (target) {
    case 'source':
      return trans.__('What about this text?');
    case 'cell':
      return trans.__('What about this cell?');
    case 'output':
      return trans.__('What about this output?');
  }
}

function ideasAt({ target }: Anchor, trans: TranslationBundle): string[] {
  return target === 'output'
    ? [
        trans.__('Explain this output.'),
        trans.__('Is this result plausible?'),
        trans.__('Make this easier to read.')
      ]
    : [
        trans.__('Explain this.'),
        trans.__('Simplify this.'),
        trans.__('Find mistakes in this.'),
        trans.__('Document this.')
      ];
}
