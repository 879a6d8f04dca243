/** An ARIA listbox, navigated from a field that keeps the focus. */

import * as React from 'react';

import { visible } from '../../../text/hiddenCharacters';
import type { IconName } from '../../../host/chatHost';
import { useHost } from '../../../ui/hooks';

/** One choice. */
export interface IListboxOption {
  readonly key: string;
  readonly icon?: IconName;
  readonly title: string;
  /** A quieter second part. */
  readonly note: string;
  /** The full note. */
  readonly hint?: string;
  /** Heading of its group. */
  readonly group: string;
  readonly checked?: boolean;
  readonly disabled?: boolean;
}

/** The id of the active option, for `aria-activedescendant`. */
export function optionId(list: string, active: number): string {
  return `${list}-${active}`;
}

export function Listbox<T extends IListboxOption>(props: {
  id: string;
  label: string;
  options: readonly T[];
  active: number;
  /** Whether notes form a column, as for commands. */
  columns?: boolean;
  /** Whether each note is on its own line, in full. */
  lines?: boolean;
  onPick: (option: T) => void;
  onActive: (index: number) => void;
}): React.JSX.Element {
  const { id, label, options, active, onPick, onActive } = props;
  const list = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    list.current
      ?.querySelector('[aria-selected=true]')
      ?.scrollIntoView({ block: 'nearest' });
  }, [active, options]);
  return (
    <div
      className={`shoulders-Choices ${props.columns === true ? 'shoulders-mod-columns' : ''} ${props.lines === true ? 'shoulders-mod-lines' : ''}`}
      role="listbox"
      id={id}
      aria-label={label}
      ref={list}
      // Must be focusable to scroll by keyboard; a click leaves the focus in the field.
      tabIndex={0}
      onMouseDown={event => event.preventDefault()}
    >
      {grouped(options).map(({ name, members }) => (
        <div key={name} role="group" aria-label={visible(name)}>
          {name !== '' && (
            <div className="shoulders-Choices-group" aria-hidden="true">
              {visible(name)}
            </div>
          )}
          {members.map(({ option, index }) => (
            <Option
              key={option.key}
              id={optionId(id, index)}
              option={option}
              active={index === active}
              onPick={() => onPick(option)}
              onActive={() => onActive(index)}
            />
          ))}
        </div>
      ))}
    </div>
  );
}

function Option(props: {
  id: string;
  option: IListboxOption;
  active: boolean;
  onPick: () => void;
  onActive: () => void;
}): React.JSX.Element {
  const { Icon } = useHost();
  const { title, note, hint = note, icon, checked, disabled } = props.option;
  return (
    <div
      className="shoulders-Choice-row"
      role="option"
      id={props.id}
      aria-selected={props.active}
      aria-disabled={disabled}
      aria-checked={checked}
      onMouseMove={props.active ? undefined : props.onActive}
      onClick={disabled === true ? undefined : props.onPick}
    >
      {icon !== undefined && <Icon name={icon} />}
      <span className="shoulders-Choice-title">{visible(title)}</span>
      <span className="shoulders-Choice-note" title={visible(hint)}>
        {visible(note)}
      </span>
      {checked === true && <Icon name="check" />}
    </div>
  );
}

interface IGroup<T> {
  name: string;
  members: { option: T; index: number }[];
}

function grouped<T extends IListboxOption>(options: readonly T[]): IGroup<T>[] {
  const groups: IGroup<T>[] = [];
  options.forEach((option, index) => {
    const last = groups.at(-1);
    if (last?.name === option.group) {
      last.members.push({ option, index });
    } else {
      groups.push({ name: option.group, members: [{ option, index }] });
    }
  });
  return groups;
}

/** The index a key moves to; null for other keys. */
export function moved(
  key: string,
  active: number,
  count: number
): number | null {
  switch (key) {
    case 'ArrowDown':
      return (active + 1) % count;
    case 'ArrowUp':
      return (active - 1 + count) % count;
    default:
      return null;
  }
}
