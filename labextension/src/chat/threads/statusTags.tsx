/** Tags beside a thread's location: approximate, lost or resolved. */

import * as React from 'react';

import type { Anchor } from '../../wire/generated';
import { Badge } from '../../ui/primitives';
import { useTrans } from '../../ui/hooks';

export function CertaintyTag(props: {
  certainty: Anchor['certainty'];
}): React.JSX.Element | null {
  const trans = useTrans();
  switch (props.certainty) {
    case 'exact':
      return null;
    case 'approximate':
      return (
        <Badge
          kind="warning"
          title={trans.__(
            'The text has changed. This is its most likely place.'
          )}
        >
          {trans.__('Approximate')}
        </Badge>
      );
    case 'orphaned':
      return (
        <Badge
          kind="bad"
          title={trans.__(
            'The text is no longer in the document. The thread finds its place again if the text returns.'
          )}
        >
          {trans.__('Not in document')}
        </Badge>
      );
  }
}

export function ResolvedTag(): React.JSX.Element {
  const trans = useTrans();
  return <Badge kind="good">{trans.__('Resolved')}</Badge>;
}
