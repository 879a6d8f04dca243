/** A field for a value that an entry refers to, such as a token. The server keeps it like a key. */

import * as React from 'react';

import { visible } from '../../text/hiddenCharacters';
import { ErrorNote } from '../../ui/primitives';
import { useTrans } from '../../ui/hooks';
import { useField, useStore } from '../components/hooks';
import type { McpServerView } from '../../wire/generated';

export function MissingValue(props: {
  server: McpServerView;
  variable: string;
}): React.JSX.Element {
  const trans = useTrans();
  const { mcp } = useStore();
  const { server, variable } = props;
  const { name } = server;
  const field = useField(`key:mcp:${name}:${variable}`, '', value =>
    mcp.change(
      mcp.api.setValue(
        name,
        variable,
        typeof value === 'string' ? value.trim() : ''
      )
    )
  );
  const typed = typeof field.value === 'string' ? field.value : '';
  const id = React.useId();
  return (
    <form
      className="shoulders-McpServer-value"
      onSubmit={event => {
        event.preventDefault();
        field.save();
      }}
    >
      <label htmlFor={id}>
        <code>{visible(variable)}</code>
      </label>
      <div className="shoulders-Settings-key">
        <input
          id={id}
          className="shoulders-Input"
          type="password"
          autoComplete="off"
          placeholder={trans.__('Kept on the server, never shown again')}
          value={typed}
          onChange={event => field.edit(event.target.value)}
        />
        <button
          type="submit"
          className="shoulders-Button shoulders-mod-primary"
          disabled={field.busy || typed.trim() === ''}
        >
          {trans.__('Save')}
        </button>
      </div>
      {field.error !== null && <ErrorNote error={field.error} />}
    </form>
  );
}
