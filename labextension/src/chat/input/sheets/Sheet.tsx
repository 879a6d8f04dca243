/** A page above the input, closed with Esc or its button, which returns the focus to the input. */

import * as React from 'react';

import type { IconName } from '../../../host/chatHost';
import { IconButton } from '../../../ui/primitives';
import { focusComposer, useHost, useTrans } from '../../../ui/hooks';

export function Sheet(props: {
  icon: IconName;
  title: string;
  onClose: () => void;
  children: React.ReactNode;
}): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  const title = React.useId();
  const ref = React.useRef<HTMLElement>(null);
  React.useEffect(() => ref.current?.focus(), []);
  const close = (): void => {
    props.onClose();
    focusComposer();
  };
  return (
    <section
      className="shoulders-Card shoulders-Sheet"
      role="dialog"
      aria-labelledby={title}
      tabIndex={-1}
      ref={ref}
      onKeyDown={event => {
        if (event.key === 'Escape' && !event.defaultPrevented) {
          event.stopPropagation();
          event.preventDefault();
          close();
        }
      }}
    >
      <header className="shoulders-Card-head">
        <Icon name={props.icon} />
        <span className="shoulders-Call-title" id={title}>
          {props.title}
        </span>
        <span className="shoulders-Actions-space" />
        <IconButton icon="close" label={trans.__('Close')} onClick={close} />
      </header>
      {props.children}
    </section>
  );
}
