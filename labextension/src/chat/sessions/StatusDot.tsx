/** A dot beside the title of an active conversation. */

import * as React from 'react';

import type { Session } from '../../wire/generated';
import { nameOfStatus } from './itemLabels';
import { useTrans } from '../../ui/hooks';

export function StatusDot({
  status
}: {
  status: Session['status'];
}): React.JSX.Element | null {
  const trans = useTrans();
  if (status === 'idle') {
    return null;
  }
  const name = nameOfStatus(status, trans);
  return (
    <span
      className={
        status === 'running'
          ? 'shoulders-Pulse'
          : `shoulders-Dot shoulders-mod-${status}`
      }
      role="img"
      aria-label={name}
      title={name}
    />
  );
}
