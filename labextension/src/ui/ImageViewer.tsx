/** A full-page image, closed by Escape, a click or its button; the focus then returns. */

import * as React from 'react';

import { IconButton } from './primitives';
import { useTrans } from './hooks';

export function ImageViewer(props: {
  /** A `data:` or `blob:` URL. */
  source: string;
  name: string;
  onClose: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { source, name, onClose } = props;
  const place = React.useRef<HTMLDialogElement>(null);
  React.useLayoutEffect(() => {
    place.current?.showModal();
  }, []);
  return (
    <dialog
      className="shoulders-PictureViewer"
      aria-label={name}
      ref={place}
      onClose={onClose}
      onClick={() => place.current?.close()}
      // Keeps keys from JupyterLab's shortcuts and the panel's Escape handler.
      onKeyDown={event => event.stopPropagation()}
    >
      <img src={source} alt={name} />
      <IconButton
        icon="close"
        label={trans.__('Close')}
        onClick={() => place.current?.close()}
      />
    </dialog>
  );
}
