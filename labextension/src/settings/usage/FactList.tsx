/** A few numbers with their names and remarks, side by side. Used by the usage section. */

import * as React from 'react';

/** A name, its value and a remark; the remark may be empty. */
export type Fact = readonly [name: string, value: string, note: string];

export function FactList({
  facts
}: {
  facts: readonly Fact[];
}): React.JSX.Element {
  return (
    <dl className="shoulders-Sums">
      {facts.map(([name, value, note]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <strong>{value}</strong>
            {note !== '' && <span>{note}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
