/** A button that opens a list of choices: pickers and small menus. By keyboard: arrows, Home, End, Enter, Esc. */

import * as React from 'react';

import { useView } from './use';

/** One choice. */
export interface IMenuItem {
  readonly key: string;
  readonly title: string;
  /** A second, quieter line. */
  readonly note?: string;
  readonly checked?: boolean;
  readonly disabled?: boolean;
  readonly act: () => void;
}

export function Menu(props: {
  label: React.ReactNode;
  items: readonly IMenuItem[];
  className: string;
  /** What the button is for, when its label does not say. */
  title?: string;
}): React.JSX.Element {
  const { Icon } = useView();
  const [open, setOpen] = React.useState(false);
  const place = React.useRef<HTMLDivElement>(null);
  const close = React.useCallback((): void => {
    setOpen(false);
    place.current?.querySelector('button')?.focus();
  }, []);
  return (
    <div
      className="shoulders-Menu"
      ref={place}
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
        title={props.title}
        onClick={() => setOpen(!open)}
        onKeyDown={event => {
          if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            event.preventDefault();
            setOpen(true);
          }
        }}
      >
        <span className="shoulders-Menu-label">{props.label}</span>
        <Icon name="caret-down" />
      </button>
      {open && <MenuList items={props.items} close={close} />}
    </div>
  );
}

function MenuList(props: {
  items: readonly IMenuItem[];
  close: () => void;
}): React.JSX.Element {
  const list = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    const checked = list.current?.querySelector<HTMLElement>(
      '[aria-checked=true]:not(:disabled)'
    );
    (checked ?? choices(list.current)[0])?.focus();
  }, []);
  return (
    <div
      className="shoulders-Menu-list"
      role="menu"
      ref={list}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.stopPropagation();
          props.close();
        } else if (moveFocus(list.current, event.key)) {
          event.preventDefault();
        }
      }}
    >
      {props.items.map(item => (
        <Choice key={item.key} item={item} close={props.close} />
      ))}
    </div>
  );
}

function Choice(props: {
  item: IMenuItem;
  close: () => void;
}): React.JSX.Element {
  const { Icon } = useView();
  const { title, note, checked, disabled, act } = props.item;
  const radio = checked !== undefined;
  return (
    <button
      type="button"
      className="shoulders-Menu-item"
      role={radio ? 'menuitemradio' : 'menuitem'}
      aria-checked={checked}
      disabled={disabled ?? false}
      onClick={() => {
        props.close();
        act();
      }}
    >
      {radio && (
        <span className="shoulders-Menu-check">
          {checked && <Icon name="check" />}
        </span>
      )}
      <span className="shoulders-Menu-text">
        <span>{title}</span>
        {note !== undefined && (
          <span className="shoulders-Menu-note">{note}</span>
        )}
      </span>
    </button>
  );
}

function choices(list: HTMLElement | null): HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>('button:enabled') ?? [])];
}

/** Move the focus in the list; whether the key was for that. */
function moveFocus(list: HTMLElement | null, key: string): boolean {
  const items = choices(list);
  const at = items.findIndex(item => item === document.activeElement);
  const target: Record<string, number> = {
    ArrowDown: (at + 1) % items.length,
    ArrowUp: (at - 1 + items.length) % items.length,
    Home: 0,
    End: items.length - 1
  };
  const index = target[key];
  if (index === undefined) {
    return false;
  }
  items[index]?.focus();
  return true;
}
