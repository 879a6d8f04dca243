/** Says so where the place of a thread is not sure, or gone. */

import * as React from 'react';

import type { Anchor } from '../../wire/generated';
import { useTrans } from '../use';

export function Certainty(props: {
  certainty: Anchor['certainty'];
}): React.JSX.Element | null {
  const trans = useTrans();
  switch (props.certainty) {
    case 'exact':
      return null;
    case 'approximate':
      return (
        <span
          className="shoulders-ThreadTag"
          title={trans.__(
            'The text was changed; this is the likeliest place of it.'
          )}
        >
          {trans.__('Approximate')}
        </span>
      );
    case 'orphaned':
      return (
        <span
          className="shoulders-ThreadTag shoulders-mod-lost"
          title={trans.__(
            'The text is no longer in the document. The thread finds its place again when the text comes back.'
          )}
        >
          {trans.__('Place gone')}
        </span>
      );
  }
}
