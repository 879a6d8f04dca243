/** Selects the models a provider offers: all it lists, or the ticked ones. */

import * as React from 'react';

import { Button } from '../../ui/primitives';
import { useTrans } from '../../ui/hooks';
import { visible } from '../../text/hiddenCharacters';
import type { IProviderForm } from './providerRequest';

/** From this many models on the list has a search field. */
const MANY = 8;

export function ModelChecklist(props: {
  offered: readonly string[];
  form: IProviderForm;
  onChange: (change: Partial<IProviderForm>) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { offered, form, onChange } = props;
  const [find, setFind] = React.useState('');
  const shown = offered.filter(name =>
    name.toLowerCase().includes(find.trim().toLowerCase())
  );
  const toggle = (name: string, on: boolean): void => {
    const models = form.models.filter(each => each !== name);
    onChange({ models: on ? [...models, name] : models });
  };
  return (
    <fieldset className="shoulders-ModelChecklist">
      <legend>{trans.__('Models')}</legend>
      <label>
        <input
          type="checkbox"
          checked={form.all}
          onChange={event => onChange({ all: event.target.checked })}
        />
        {offered.length === 0
          ? trans.__('All listed models')
          : trans._n(
              'All listed models (%1 now)',
              'All listed models (%1 now)',
              offered.length
            )}
      </label>
      {!form.all && (
        <>
          {offered.length > MANY && (
            <input
              type="search"
              className="shoulders-Input"
              aria-label={trans.__('Find a model')}
              placeholder={trans.__('Find a model')}
              value={find}
              onChange={event => setFind(event.target.value)}
            />
          )}
          <div className="shoulders-ModelChecklist-list">
            {shown.map(name => (
              <label key={name}>
                <input
                  type="checkbox"
                  checked={form.models.includes(name)}
                  onChange={event => toggle(name, event.target.checked)}
                />
                {visible(name)}
              </label>
            ))}
          </div>
          <NamedModel onAdd={name => toggle(name, true)} />
        </>
      )}
    </fieldset>
  );
}

/** Adds a model that the service does not list. */
function NamedModel(props: {
  onAdd: (name: string) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const [name, setName] = React.useState('');
  const add = (): void => {
    if (name.trim() !== '') {
      props.onAdd(name.trim());
      setName('');
    }
  };
  return (
    <div className="shoulders-ModelChecklist-named">
      <input
        className="shoulders-Input"
        aria-label={trans.__('Name of another model')}
        placeholder={trans.__('Name of another model')}
        spellCheck={false}
        value={name}
        onChange={event => setName(event.target.value)}
        onKeyDown={event => {
          if (event.key === 'Enter') {
            event.preventDefault(); // Enter would save the form.
            add();
          }
        }}
      />
      <Button disabled={name.trim() === ''} onClick={add}>
        {trans.__('Add')}
      </Button>
    </div>
  );
}
