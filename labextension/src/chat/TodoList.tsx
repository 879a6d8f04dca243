/** The agent's checklist, above the input. */

import * as React from 'react';

import type { TodoItem } from '../wire/generated';
import { Disclosure } from './parts';
import { useTrans } from './use';

export const TodoList = React.memo(function TodoList(props: {
  items: readonly TodoItem[];
}): React.JSX.Element | null {
  const trans = useTrans();
  const { items } = props;
  if (items.length === 0) {
    return null;
  }
  const done = items.filter(item => item.done).length;
  return (
    <Disclosure
      className="shoulders-Todo"
      startsOpen
      summary={trans.__('%1 of %2 done', done, items.length)}
    >
      {() => (
        <ul>
          {items.map((item, index) => (
            <li
              key={index}
              className={item.done ? 'shoulders-mod-done' : ''}
              style={{ paddingLeft: `${item.depth * 16}px` }}
            >
              <span
                className="shoulders-Markdown-check"
                role="checkbox"
                aria-checked={item.done}
                aria-disabled
              />
              {item.text}
            </li>
          ))}
        </ul>
      )}
    </Disclosure>
  );
});
