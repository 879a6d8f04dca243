/** What can be done with a message of the past; appears when the pointer or the focus is on it. */

import * as React from 'react';

import { Menu } from './Menu';
import { RestoreForm, type IRestorePoint } from './RestoreForm';
import { useHost, useTrans } from './use';

export function MessageActions(props: {
  point: IRestorePoint;
}): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  const [asking, setAsking] = React.useState(false);
  const menu = React.useRef<HTMLDivElement>(null);
  const close = (): void => {
    setAsking(false);
    menu.current?.querySelector('button')?.focus();
  };
  return (
    <>
      <div className="shoulders-User-actions" ref={menu}>
        <Menu
          label={<Icon name="history" />}
          title={trans.__('Message actions')}
          className="shoulders-User-menu"
          items={[
            {
              key: 'restore',
              title: trans.__('Restore to before this message…'),
              act: () => setAsking(true)
            }
          ]}
        />
      </div>
      {asking && <RestoreForm point={props.point} onClose={close} />}
    </>
  );
}
