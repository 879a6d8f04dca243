/** A button that opens a list of choices: pickers and small menus. Keys: arrows, Home, End, Enter, Esc. */

import * as React from 'react';

import type { IconName } from '../host/chatHost';
import { MenuList, type IMenuItem } from './MenuList';
import { useView } from './hooks';

export type { IMenuItem } from './MenuList';

interface IMenuProps {
  items: readonly IMenuItem[];
  className: string;
  /** Where the list opens; one that opens downwards is aligned with the end of its button. */
  drop?: 'up' | 'down';
}

/** A button with text, or with an icon and an accessible name. */
type MenuProps = IMenuProps &
  (
    | {
        label: React.ReactNode;
        /** Tooltip, when the label does not explain the button. */
        title?: string;
        icon?: undefined;
      }
    | { icon: IconName; label: string; title?: undefined }
  );

export function Menu(props: MenuProps): React.JSX.Element {
  const { Icon } = useView();
  const [open, setOpen] = React.useState(false);
  const ref = React.useRef<HTMLDivElement>(null);
  const close = React.useCallback((): void => {
    setOpen(false);
    ref.current?.querySelector('button')?.focus();
  }, []);
  return (
    <div
      className="shoulders-Menu"
      ref={ref}
      onBlur={event => {
        if (!event.currentTarget.contains(event.relatedTarget)) {
          setOpen(false);
        }
      }}
    >
      <button
        type="button"
        className={`${props.className} shoulders-Menu-button`}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-label={props.icon === undefined ? undefined : props.label}
        title={props.icon === undefined ? props.title : props.label}
        onClick={() => setOpen(!open)}
        onKeyDown={event => {
          if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            event.preventDefault();
            setOpen(true);
          }
        }}
      >
        {props.icon === undefined ? (
          <>
            <span className="shoulders-Menu-label">{props.label}</span>
            <Icon name="caret-down" />
          </>
        ) : (
          <Icon name={props.icon} />
        )}
      </button>
      {open && (
        <MenuList items={props.items} drop={props.drop ?? 'up'} close={close} />
      )}
    </div>
  );
}
