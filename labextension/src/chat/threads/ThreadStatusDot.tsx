/** How a thread stands, as a mark whose shape says it too. */

import * as React from 'react';

import type { Session } from '../../wire/generated';
import { nameOfStatus } from '../sessions/itemLabels';
import { useTrans } from '../../ui/hooks';

export function ThreadStatusDot(props: {
  status: Session['status'];
}): React.JSX.Element {
  const trans = useTrans();
  const name = nameOfStatus(props.status, trans);
  return (
    <span
      className={`shoulders-ThreadState shoulders-mod-${props.status}`}
      role="img"
      aria-label={name}
      title={name}
    />
  );
}
