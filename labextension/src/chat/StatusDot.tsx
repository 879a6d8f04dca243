/** Something is going on in a conversation: a dot beside its title. */

import * as React from 'react';

import type { Session } from '../wire/generated';
import { useTrans } from './use';

export function StatusDot(props: {
  status: Session['status'];
}): React.JSX.Element | null {
  const trans = useTrans();
  switch (props.status) {
    case 'running':
      return <Dot className="shoulders-Pulse" label={trans.__('Working')} />;
    case 'waiting':
      return (
        <Dot
          className="shoulders-Dot shoulders-mod-waiting"
          label={trans.__('Waits for you')}
        />
      );
    case 'error':
      return (
        <Dot
          className="shoulders-Dot shoulders-mod-error"
          label={trans.__('Failed')}
        />
      );
    case 'interrupted':
      return (
        <Dot
          className="shoulders-Dot shoulders-mod-interrupted"
          label={trans.__('Interrupted')}
        />
      );
    case 'resolved':
      return (
        <Dot
          className="shoulders-Dot shoulders-mod-resolved"
          label={trans.__('Resolved')}
        />
      );
    case 'idle':
      return null;
  }
}

function Dot(props: { className: string; label: string }): React.JSX.Element {
  const { className, label } = props;
  return (
    <span className={className} role="img" aria-label={label} title={label} />
  );
}
