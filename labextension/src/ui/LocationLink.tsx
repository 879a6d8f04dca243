/** An inline link to a location in the workspace. */

import * as React from 'react';

export function LocationLink(props: {
  className?: string;
  title: string;
  onGo: () => void;
  /** False when another link in the line has the same target. */
  isStop?: boolean;
  children: React.ReactNode;
}): React.JSX.Element {
  const { className = '', title, onGo, isStop = true, children } = props;
  return (
    <a
      role="link"
      tabIndex={isStop ? 0 : -1}
      className={`shoulders-LocationLink ${className}`}
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
