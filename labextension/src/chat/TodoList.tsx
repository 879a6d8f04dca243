/** The agent's to-do list above the input. Collapsed once everything is done, unless the user opens it. */

import * as React from 'react';

import { legible } from '../text/hiddenCharacters';
import type { TodoItem } from '../wire/generated';
import { useHost, useTrans } from '../ui/hooks';

export const TodoList = React.memo(function TodoList(props: {
  items: readonly TodoItem[];
}): React.JSX.Element | null {
  const { Icon } = useHost();
  const trans = useTrans();
  const [chosen, setChosen] = React.useState<boolean | null>(null);
  const list = React.useId();
  const { items } = props;
  const done = items.filter(item => item.done).length;
  const next = items.find(item => !item.done);
  const open = chosen ?? next !== undefined;
  if (items.length === 0) {
    return null;
  }
  return (
    <section className="shoulders-Todo" aria-label={trans.__('Checklist')}>
      <button
        type="button"
        className="shoulders-Disclosure"
        aria-expanded={open}
        aria-controls={list}
        onClick={() => setChosen(!open)}
      >
        <span className="shoulders-Todo-progress" aria-live="polite">
          {trans.__('%1 of %2 done', done, items.length)}
        </span>
        {!open && next !== undefined && (
          <span className="shoulders-Todo-next">{legible(next.text)}</span>
        )}
        <span className="shoulders-Disclosure-caret">
          <Icon name={open ? 'caret-down' : 'caret-right'} />
        </span>
      </button>
      {open && (
        <ul id={list}>
          {items.map((item, index) => (
            <Item key={index} item={item} />
          ))}
        </ul>
      )}
    </section>
  );
});

function Item({ item }: { item: TodoItem }): React.JSX.Element {
  const trans = useTrans();
  return (
    <li
      className={`shoulders-Todo-item ${item.done ? 'shoulders-mod-done' : ''}`}
      style={{ paddingLeft: `${item.depth * 16}px` }}
    >
      <span
        className="shoulders-Markdown-check"
        role="img"
        aria-label={item.done ? trans.__('Done:') : trans.__('To do:')}
      />
      <span>{legible(item.text)}</span>
    </li>
  );
}
