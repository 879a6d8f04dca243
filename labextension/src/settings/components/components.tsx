/** Small components shared by the sections. */

import * as React from 'react';

import { Button, Dots, ErrorNote } from '../../ui/primitives';
import { useTrans, useView } from '../../ui/hooks';
import { visible } from '../../text/hiddenCharacters';
import type { Resource } from '../../client/resource';
import { useResource } from './hooks';

/** The value of a resource, or why it cannot be shown; an older value stays beside the error. */
export function Loaded<T>(props: {
  resource: Resource<T>;
  children: (value: T) => React.ReactNode;
}): React.JSX.Element {
  const trans = useTrans();
  const { value, error } = useResource(props.resource);
  return (
    <>
      {error !== null && (
        <ErrorNote error={error}>
          <Button onClick={() => void props.resource.load()}>
            {trans.__('Try again')}
          </Button>
        </ErrorNote>
      )}
      {value === null ? error === null && <Dots /> : props.children(value)}
    </>
  );
}

/** A titled part of a section. */
export function Group(props: {
  title: string;
  note?: string;
  children: React.ReactNode;
}): React.JSX.Element {
  const id = React.useId();
  return (
    <section className="shoulders-Group" aria-labelledby={id}>
      <h3 id={id}>{props.title}</h3>
      {props.note !== undefined && (
        <p className="shoulders-Settings-note">{props.note}</p>
      )}
      {props.children}
    </section>
  );
}

/** Problems in a file. */
export function Problems(props: {
  problems: readonly string[];
}): React.JSX.Element | null {
  const { Icon } = useView();
  return props.problems.length === 0 ? null : (
    <ul className="shoulders-Problems">
      {props.problems.map(problem => (
        <li key={problem}>
          <Icon name="error" />
          <span>{visible(problem)}</span>
        </li>
      ))}
    </ul>
  );
}

/** A problem of a file in one line. */
export function problemText(problem: {
  file: string;
  line: number | null;
  message: string;
}): string {
  const place =
    problem.line === null ? problem.file : `${problem.file}:${problem.line}`;
  return `${place} · ${problem.message}`;
}
