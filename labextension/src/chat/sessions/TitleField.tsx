/** The field in which a title is changed: Enter keeps it, Esc does not. */

import * as React from 'react';

import { focused } from '../../ui/focus';
import { useTrans } from '../../ui/hooks';

export function TitleField(props: {
  title: string;
  /** The new title; the old one when nothing was changed. */
  onDone: (title: string) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const [title, setTitle] = React.useState(props.title);
  const done = React.useRef(false);
  const end = (result: string): void => {
    if (!done.current) {
      done.current = true; // Going away, the field loses the focus: that is no second end.
      props.onDone(result);
    }
  };
  return (
    <input
      className="shoulders-Input shoulders-Rename"
      // The user has just asked for this field.
      autoFocus
      value={title}
      aria-label={trans.__('Title')}
      onFocus={event => event.target.select()}
      onChange={event => setTitle(event.target.value)}
      onBlur={event => {
        // When the whole window loses the focus, the field still is what has it there.
        if (focused() !== event.target) {
          end(title.trim());
        }
      }}
      onKeyDown={event => {
        if (event.nativeEvent.isComposing) {
          return; // The keys are for what helps to write.
        }
        if (event.key === 'Enter') {
          end(title.trim());
        } else if (event.key === 'Escape') {
          event.stopPropagation();
          end(props.title);
        }
      }}
    />
  );
}
