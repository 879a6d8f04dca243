/** Labelled fields of the forms that add and edit things, one below the other. */

import * as React from 'react';

import { visible } from '../../text/hiddenCharacters';

/** A labelled text field; `secret` hides the text and keeps the browser from storing it. */
export function TextLine(props: {
  label: string;
  value: string;
  placeholder?: string;
  secret?: boolean;
  /** Whether it takes the focus when it appears. */
  takesFocus?: boolean;
  onChange: (value: string) => void;
}): React.JSX.Element {
  return (
    <Line label={props.label}>
      {id => (
        <input
          id={id}
          className="shoulders-Input"
          type={props.secret === true ? 'password' : 'text'}
          autoComplete="off"
          autoFocus={props.takesFocus === true}
          spellCheck={false}
          placeholder={props.placeholder}
          value={props.value}
          onChange={event => props.onChange(event.target.value)}
        />
      )}
    </Line>
  );
}

/** A labelled field. */
export function Line(props: {
  label: string;
  children: (id: string) => React.ReactNode;
}): React.JSX.Element {
  const id = React.useId();
  return (
    <div className="shoulders-ProviderForm-line">
      <label htmlFor={id}>{visible(props.label)}</label>
      {props.children(id)}
    </div>
  );
}
