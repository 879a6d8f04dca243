/** A field for a provider's key. The key is sent only to the server, which tests it before storing it. */

import * as React from 'react';

import { ApiError } from '../../client/http';
import { ErrorNote } from '../../ui/primitives';
import { useAction, useTrans } from '../../ui/hooks';
import type { ProviderHealth, ProviderTest } from '../../wire/generated';
import { useField, useStore } from '../components/hooks';

export function KeyForm(props: {
  provider: ProviderHealth;
  onResult: (result: ProviderTest | null) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const store = useStore();
  const { onResult } = props;
  const { id, name, key_set } = props.provider;
  const [refused, setRefused] = React.useState(false);
  const field = useField(`key:${id}`, '', async key => {
    const given = typeof key === 'string' ? key.trim() : '';
    const saved = await store.tryKey(id, given);
    setRefused(!saved.stored);
    if (!saved.stored && saved.test?.error) {
      throw new ApiError(0, saved.test.error);
    }
    onResult(saved.test);
  });
  const typed = typeof field.value === 'string' ? field.value : '';
  const label = key_set
    ? trans.__('New key for %1', name)
    : trans.__('Key for %1', name);
  return (
    <form
      className="shoulders-Settings-key"
      onSubmit={event => {
        event.preventDefault();
        onResult(null);
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
        onChange={event => {
          setRefused(false);
          field.edit(event.target.value);
        }}
      />
      {typed !== '' && (
        <button
          type="submit"
          className="shoulders-Button shoulders-mod-primary"
          disabled={field.busy || typed.trim() === ''}
        >
          {field.busy ? trans.__('Testing…') : trans.__('Save and test')}
        </button>
      )}
      {field.error !== null && (
        <ErrorNote error={field.error}>
          {refused && (
            <SaveAnyway
              keySet={key_set}
              store={() => store.setKey(id, typed.trim())}
              onStored={field.discard}
            />
          )}
        </ErrorNote>
      )}
    </form>
  );
}

/** Stores a key that the test refused. */
function SaveAnyway(props: {
  keySet: boolean;
  store: () => Promise<void>;
  onStored: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { busy, error, run } = useAction();
  return (
    <>
      <span className="shoulders-Settings-note">
        {props.keySet
          ? trans.__('Not saved. The key you had is still in use.')
          : trans.__('Not saved.')}
      </span>
      <button
        type="button"
        className="shoulders-Button"
        disabled={busy}
        onClick={() =>
          run(async () => {
            await props.store();
            props.onStored();
          })
        }
      >
        {trans.__('Save anyway')}
      </button>
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}
