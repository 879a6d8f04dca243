/** A field for a provider's key. The key goes to the server and nowhere else; one that was refused stays in the field. */

import * as React from 'react';

import { ErrorNote } from '../chat/parts';
import { useTrans } from '../chat/use';
import type { ProviderHealth } from '../wire/generated';
import { useField, useStore } from './use';

export function KeyForm(props: {
  provider: ProviderHealth;
}): React.JSX.Element {
  const trans = useTrans();
  const store = useStore();
  const { id, name, key_set } = props.provider;
  const field = useField(`key:${id}`, '', async key => {
    if (typeof key === 'string') {
      await store.setKey(id, key.trim());
    }
  });
  const typed = typeof field.value === 'string' ? field.value : '';
  const label = key_set
    ? trans.__('New key of %1', name)
    : trans.__('Key of %1', name);
  return (
    <form
      className="shoulders-Settings-key"
      onSubmit={event => {
        event.preventDefault();
        field.save();
      }}
    >
      <input
        className="shoulders-Input"
        type="password"
        autoComplete="off"
        aria-label={label}
        placeholder={
          key_set ? trans.__('Replace the key…') : trans.__('Paste a key…')
        }
        value={typed}
        onChange={event => field.edit(event.target.value)}
      />
      {typed !== '' && (
        <button
          type="submit"
          className="shoulders-Button shoulders-mod-primary"
          disabled={field.busy || typed.trim() === ''}
        >
          {trans.__('Save key')}
        </button>
      )}
      {field.error !== null && <ErrorNote error={field.error} />}
    </form>
  );
}
