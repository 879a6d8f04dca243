/** Selects one of several values, or any, in the filters of lists. */

import * as React from 'react';

import { useView, type useTrans } from './hooks';

export function FilterSelect<T extends string>(props: {
  label: string;
  any: string;
  value: T | null;
  values: readonly T[];
  nameOf: (value: T, trans: ReturnType<typeof useTrans>) => string;
  onChange: (value: T | null) => void;
}): React.JSX.Element {
  const { Icon, trans } = useView();
  const { label, any, value, values, nameOf, onChange } = props;
  return (
    <span className="shoulders-Select">
      <select
        aria-label={label}
        value={value ?? ''}
        onChange={event =>
          onChange(values.find(each => each === event.target.value) ?? null)
        }
      >
        <option value="">{any}</option>
        {values.map(each => (
          <option key={each} value={each}>
            {nameOf(each, trans)}
          </option>
        ))}
      </select>
      <Icon name="caret-down" />
    </span>
  );
}
