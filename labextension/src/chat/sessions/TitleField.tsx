/** The field for editing a title: Enter accepts, Esc cancels. */

import * as React from 'react';

import { focused } from '../../ui/focus';
import { useTrans } from '../../ui/hooks';

export function TitleField(props: {
  title: string;
  /** Called with the new title, or the old one if unchanged. */
  onDone: (title: string) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const [title, setTitle] = React.useState(props.title);
  const done = React.useRef(false);
  const end = (result: string): void => {
    if (!done.current) {
      done.current = true; // Unmounting blurs the field, which must not count twice.
      props.onDone(result);
    }
  };
  return (
    <input
      className="shoulders-Input shoulders-Rename"
      // The user just opened this field.
      autoFocus
      value={title}
      aria-label={trans.__('Title')}
      onFocus={event => event.target.select()}
      onChange={event => setTitle(event.target.value)}
      onBlur={event => {
        // When the whole window loses the focus, the field keeps it in the page.
        if (focused() !== event.target) {
          end(title.trim());
        }
      }}
      onKeyDown={event => {
        if (event.nativeEvent.isComposing) {
          return; // The keys belong to the input method.
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
