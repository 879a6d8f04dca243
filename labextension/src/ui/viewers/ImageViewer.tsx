/** A full-page image, closed by Escape, a click or its button; the focus then returns. */

import * as React from 'react';

import { IconButton } from '../primitives';
import { useTrans } from '../hooks';

export function ImageViewer(props: {
  /** A `data:` or `blob:` URL. */
  source: string;
  name: string;
  onClose: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { source, name, onClose } = props;
  const ref = React.useRef<HTMLDialogElement>(null);
  React.useLayoutEffect(() => {
    ref.current?.showModal();
  }, []);
  return (
    <dialog
      className="shoulders-ImageViewer"
      aria-label={name}
      ref={ref}
      onClose={onClose}
      onClick={() => ref.current?.close()}
      // Keeps keys from JupyterLab's shortcuts and the panel's Escape handler.
      onKeyDown={event => event.stopPropagation()}
    >
      <img src={source} alt={name} />
      <IconButton
        icon="close"
        label={trans.__('Close')}
        onClick={() => ref.current?.close()}
      />
    </dialog>
  );
}
