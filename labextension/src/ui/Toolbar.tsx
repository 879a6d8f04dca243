/** A row of icon buttons for a message, shown on hover or focus. A single tab stop. */

import * as React from 'react';

import { focused } from './focus';
import type { IconName } from '../host/chatHost';
import { useHost } from './hooks';

/** One action. */
export interface IToolbarAction {
  readonly icon: IconName;
  readonly label: string;
  readonly act: () => void;
  readonly disabled?: boolean;
}

export function Toolbar(props: {
  label: string;
  className?: string;
  acts: readonly IToolbarAction[];
}): React.JSX.Element {
  const { Icon } = useHost();
  const [stop, setStop] = React.useState(0);
  const onKeyDown = (event: React.KeyboardEvent<HTMLDivElement>): void => {
    const buttons = [...event.currentTarget.querySelectorAll('button')];
    const from = buttons.findIndex(each => each === focused());
    const to = targetIndex(event.key, from, buttons.length);
    if (to !== null) {
      event.preventDefault();
      setStop(to);
      buttons[to]?.focus();
    }
  };
  return (
    <div
      role="toolbar"
      aria-label={props.label}
      className={`shoulders-Toolbar ${props.className ?? ''}`}
      onKeyDown={onKeyDown}
    >
      {props.acts.map(({ icon, label, act, disabled }, index) => (
        <button
          key={index}
          type="button"
          className="shoulders-IconButton"
          title={label}
          aria-label={label}
          // Stays focusable, and its label gives the reason.
          aria-disabled={disabled === true}
          tabIndex={index === Math.min(stop, props.acts.length - 1) ? 0 : -1}
          onFocus={() => setStop(index)}
          onClick={() => disabled !== true && act()}
        >
          <Icon name={icon} />
        </button>
      ))}
    </div>
  );
}

/** The position a key moves to in the row; null for other keys. */
function targetIndex(key: string, from: number, count: number): number | null {
  switch (key) {
    case 'ArrowRight':
      return (from + 1) % count;
    case 'ArrowLeft':
      return (from - 1 + count) % count;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return null;
  }
}

/** How long a confirmation is shown, in ms. */
const CONFIRMATION_TIME = 1500;

/** The action that was just completed. */
export function useDone<T>(): { done: T | null; confirm: (what: T) => void } {
  const [done, setDone] = React.useState<T | null>(null);
  const timer = React.useRef<ReturnType<typeof setTimeout>>();
  React.useEffect(() => () => clearTimeout(timer.current), []);
  const confirm = React.useCallback((what: T) => {
    clearTimeout(timer.current);
    setDone(what);
    timer.current = setTimeout(() => setDone(null), CONFIRMATION_TIME);
  }, []);
  return { done, confirm };
}
