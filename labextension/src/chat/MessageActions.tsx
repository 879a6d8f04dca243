/** What can be done with a message of the past; appears when the pointer or the focus is on it. */

import * as React from 'react';

import { IconButton } from './parts';
import { RestoreForm, type IRestorePoint } from './RestoreForm';
import { useTrans } from './use';

export function MessageActions(props: {
  point: IRestorePoint;
}): React.JSX.Element {
  const trans = useTrans();
  const [asking, setAsking] = React.useState(false);
  const place = React.useRef<HTMLDivElement>(null);
  const close = (): void => {
    setAsking(false);
    place.current?.querySelector('button')?.focus();
  };
  return (
    <>
      <div className="shoulders-User-actions" ref={place}>
        <IconButton
          icon="history"
          label={trans.__('Restore to before this message…')}
          onClick={() => setAsking(true)}
        />
      </div>
      {asking && <RestoreForm point={props.point} onClose={close} />}
    </>
  );
}
