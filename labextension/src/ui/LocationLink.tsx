/** A link to a place in the workspace, in a line of text. */

import * as React from 'react';

export function LocationLink(props: {
  className?: string;
  title: string;
  onGo: () => void;
  /** False where another link of the line leads to the same place. */
  isStop?: boolean;
  children: React.ReactNode;
}): React.JSX.Element {
  const { className = '', title, onGo, isStop = true, children } = props;
  return (
    <a
      role="link"
      tabIndex={isStop ? 0 : -1}
      className={`shoulders-PlaceLink ${className}`}
      title={title}
      onClick={onGo}
      onKeyDown={event => {
        if (event.key === 'Enter') {
          event.preventDefault();
          onGo();
        }
      }}
    >
      {children}
    </a>
  );
}
