/** Preferences that hold in every conversation: fields that write statements into the user's memory. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { useAction, useTrans } from '../../ui/hooks';
import { Button, ErrorNote } from '../../ui/primitives';
import type { MemoryStatement } from '../../wire/generated';
import { Group } from '../components/components';
import { Row } from '../components/fields';
import { useStore } from '../components/hooks';
import {
  LABELS,
  preferenceOf,
  preferenceText,
  type PreferenceName
} from './preferences';

const NAMES = Object.keys(LABELS) as PreferenceName[];
const LONGEST = 200;

export function PreferenceForm(props: {
  statements: readonly MemoryStatement[];
}): React.JSX.Element {
  const trans = useTrans();
  return (
    <Group
      title={trans.__('Your preferences')}
      note={trans.__(
        'They are statements of your memory like the others. Leave a field empty to say nothing.'
      )}
    >
      {NAMES.map(name => (
        <Preference key={name} name={name} statements={props.statements} />
      ))}
    </Group>
  );
}

function Preference(props: {
  name: PreferenceName;
  statements: readonly MemoryStatement[];
}): React.JSX.Element {
  const trans = useTrans();
  const { memory } = useStore();
  const { busy, error, run } = useAction();
  const { name, statements } = props;
  const known = preferenceOf(statements, name);
  const stored = known?.value ?? '';
  const [draft, setDraft] = React.useState<string | null>(null);
  const value = draft ?? stored;
  const isDirty = value.trim() !== stored;
  const save = async (): Promise<void> => {
    const text = preferenceText(name, value);
    if (value.trim() === '') {
      await (known === null ? null : memory.remove(known.id));
    } else if (known === null) {
      await memory.add({ text, scope: 'person', preference: true });
    } else {
      await memory.edit(known.id, text);
    }
    setDraft(null);
  };
  return (
    <Row
      label={labelOf(name, trans)}
      control={(id, describedBy) => (
        <input
          id={id}
          className="shoulders-Input"
          type="text"
          autoComplete="off"
          aria-describedby={describedBy}
          maxLength={LONGEST}
          placeholder={exampleOf(name, trans)}
          value={value}
          onChange={event => setDraft(event.target.value)}
          onKeyDown={event => {
            if (event.key === 'Enter' && isDirty && !busy) {
              run(save);
            }
          }}
        />
      )}
    >
      {(isDirty || error !== null) && (
        <div className="shoulders-Field-outcome">
          {error !== null && <ErrorNote error={error} />}
          <div className="shoulders-Actions">
            <Button kind="primary" disabled={busy} onClick={() => run(save)}>
              {trans.__('Save')}
            </Button>
            <Button disabled={busy} onClick={() => setDraft(null)}>
              {trans.__('Discard')}
            </Button>
          </div>
        </div>
      )}
    </Row>
  );
}

function labelOf(name: PreferenceName, trans: TranslationBundle): string {
  switch (name) {
    case 'language':
      return trans.__('Language of answers');
    case 'plots':
      return trans.__('Plotting library');
    case 'style':
      return trans.__('Style of answers and code');
  }
}

function exampleOf(name: PreferenceName, trans: TranslationBundle): string {
  switch (name) {
    case 'language':
      return trans.__('such as German');
    case 'plots':
      return trans.__('such as seaborn');
    case 'style':
      return trans.__('such as short answers, type hints');
  }
}
