/** Edits a provider of the user's own models.json. */

import * as React from 'react';

import { Button, Dots, ErrorNote } from '../../ui/primitives';
import { useAction, useTrans } from '../../ui/hooks';
import type {
  OwnProvider,
  ProviderHealth,
  SavedProvider
} from '../../wire/generated';
import {
  bodyOf,
  formOfOwn,
  problemOf,
  type IProviderForm
} from './providerRequest';
import { ProviderFields } from './ProviderForm';
import { SaveRow, Stored } from './SavedProvider';
import { useResource, useStore } from '../components/hooks';

export function EditProvider(props: {
  provider: ProviderHealth;
  onDone: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { api } = useStore();
  const { error, run } = useAction();
  const [own, setOwn] = React.useState<OwnProvider | null>(null);
  const { id } = props.provider;
  React.useEffect(() => {
    run(async () => setOwn(await api.ownProvider(id)));
    // Read once, so that typed text is not overwritten.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [id]);
  if (error !== null) {
    return (
      <ErrorNote error={error}>
        <Button onClick={props.onDone}>{trans.__('Close')}</Button>
      </ErrorNote>
    );
  }
  return own === null ? <Dots /> : <Editing {...props} own={own} />;
}

function Editing(props: {
  provider: ProviderHealth;
  own: OwnProvider;
  onDone: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const store = useStore();
  const { provider, own, onDone } = props;
  const { busy, error, run } = useAction();
  const [form, setForm] = React.useState<IProviderForm>(() => formOfOwn(own));
  const [saved, setSaved] = React.useState<SavedProvider | null>(null);
  const { value } = useResource(store.models);
  const prefix = `${own.id}/`;
  const offered = (value?.models ?? [])
    .filter(model => model.provider === own.id && model.id.startsWith(prefix))
    .map(({ id }) => id.slice(prefix.length));
  const save = (untested: boolean): void =>
    run(async () =>
      setSaved(await store.putProvider(own.id, bodyOf(form, false, untested)))
    );
  const problem = problemOf(form, trans);
  if (saved?.stored === true) {
    return <Stored name={form.name} saved={saved} onDone={onDone} />;
  }
  return (
    <form
      className="shoulders-ProviderForm"
      onSubmit={event => {
        event.preventDefault();
        if (problem === '' && !busy) {
          save(false);
        }
      }}
    >
      <ProviderFields
        form={form}
        offered={offered}
        keyNote={
          provider.key_set
            ? trans.__('Leave empty to keep the stored key')
            : trans.__('If the server requires one')
        }
        onChange={part => setForm({ ...form, ...part })}
      />
      <SaveRow
        problem={problem}
        busy={busy}
        error={error}
        saved={saved}
        onSave={save}
      >
        <Button onClick={onDone}>{trans.__('Cancel')}</Button>
      </SaveRow>
    </form>
  );
}
