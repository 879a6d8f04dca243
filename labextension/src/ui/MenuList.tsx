/** The list that a `Menu` opens: choices, grouped below headings. */

import * as React from 'react';

import { focused } from './focus';
import { useView } from './hooks';

/** One choice. */
export interface IMenuItem {
  readonly key: string;
  readonly title: string;
  /** A second, quieter line. */
  readonly note?: string;
  /** The full second line, if it is shortened. */
  readonly fullNote?: string;
  readonly checked?: boolean;
  readonly disabled?: boolean;
  /** Whether it deletes something. */
  readonly danger?: boolean;
  /** Heading of its group. */
  readonly group?: string;
  readonly act: () => void;
}

export function MenuList(props: {
  items: readonly IMenuItem[];
  drop: 'up' | 'down';
  close: () => void;
}): React.JSX.Element {
  const list = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    const checked = list.current?.querySelector<HTMLElement>(
      '[aria-checked=true]:not(:disabled)'
    );
    list.current?.scrollIntoView({ block: 'nearest' });
    (checked ?? choices(list.current)[0])?.focus();
  }, []);
  return (
    <div
      className={`shoulders-Menu-list shoulders-mod-${props.drop}`}
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
      {groups(props.items).map(([heading, items]) => (
        <Group key={heading ?? ''} heading={heading}>
          {items.map(item => (
            <Choice key={item.key} item={item} close={props.close} />
          ))}
        </Group>
      ))}
    </div>
  );
}

/** Choices below a heading, if they have one. */
function Group(props: {
  heading: string | undefined;
  children: React.ReactNode;
}): React.JSX.Element {
  const { heading, children } = props;
  return heading === undefined ? (
    <>{children}</>
  ) : (
    <div className="shoulders-Menu-group" role="group" aria-label={heading}>
      <div className="shoulders-Menu-heading" aria-hidden="true">
        {heading}
      </div>
      {children}
    </div>
  );
}

/** Consecutive items with the same heading. */
function groups(
  items: readonly IMenuItem[]
): [string | undefined, IMenuItem[]][] {
  const found: [string | undefined, IMenuItem[]][] = [];
  for (const item of items) {
    const last = found.at(-1);
    if (last !== undefined && last[0] === item.group) {
      last[1].push(item);
    } else {
      found.push([item.group, [item]]);
    }
  }
  return found;
}

function Choice(props: {
  item: IMenuItem;
  close: () => void;
}): React.JSX.Element {
  const { Icon } = useView();
  const { title, note, fullNote, checked, disabled, danger, act } = props.item;
  const radio = checked !== undefined;
  return (
    <button
      type="button"
      className={`shoulders-Menu-item ${danger === true ? 'shoulders-mod-danger' : ''}`}
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
          <span className="shoulders-Menu-note" title={fullNote}>
            {note}
          </span>
        )}
      </span>
    </button>
  );
}

function choices(list: HTMLElement | null): HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>('button:enabled') ?? [])];
}

/** Move the focus in the list; return whether the key was handled. */
function moveFocus(list: HTMLElement | null, key: string): boolean {
  const items = choices(list);
  const at = items.findIndex(item => item === focused());
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
