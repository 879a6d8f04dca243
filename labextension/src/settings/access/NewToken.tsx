/** The form for a new token: its name and what it allows. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { Button, ErrorNote } from '../../ui/primitives';
import { useAction, useTrans } from '../../ui/hooks';
import type {
  AccessToken,
  CreatedAccessToken,
  PostAccessToken
} from '../../wire/generated';
import { TextLine } from '../components/FormLine';
import { useStore } from '../components/hooks';

export type AccessScope = AccessToken['scopes'][number];

/** A program's name, which is not translated. */
const EXAMPLE = 'Claude Code';

const SCOPES: readonly AccessScope[] = ['read', 'edit', 'run', 'files'];

export function NewToken(props: {
  onMade: (made: CreatedAccessToken) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const [open, setOpen] = React.useState(false);
  const place = React.useRef<HTMLDivElement>(null);
  const close = (): void => {
    setOpen(false);
    requestAnimationFrame(() =>
      place.current?.querySelector('button')?.focus()
    );
  };
  return (
    <div ref={place}>
      {open ? (
        <Form
          onCancel={close}
          onMade={made => {
            setOpen(false);
            props.onMade(made);
          }}
        />
      ) : (
        <Button kind="primary" onClick={() => setOpen(true)}>
          {trans.__('New token…')}
        </Button>
      )}
    </div>
  );
}

function Form(props: {
  onMade: (made: CreatedAccessToken) => void;
  onCancel: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { access } = useStore();
  const { onMade, onCancel } = props;
  const { busy, error, run } = useAction();
  const [name, setName] = React.useState('');
  const [scopes, setScopes] = React.useState<readonly AccessScope[]>(['read']);
  const isComplete = name.trim() !== '' && scopes.length > 0;
  const body: PostAccessToken = {
    name: name.trim(),
    scopes: [...scopes] as PostAccessToken['scopes'] // Sent only when there is one.
  };
  return (
    <form
      className="shoulders-Provider shoulders-ProviderForm"
      aria-label={trans.__('New token')}
      onSubmit={event => {
        event.preventDefault();
        if (isComplete && !busy) {
          run(async () => onMade(await access.create(body)));
        }
      }}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.stopPropagation();
          onCancel();
        }
      }}
    >
      <TextLine
        label={trans.__('Name of the program')}
        placeholder={EXAMPLE}
        takesFocus={true}
        value={name}
        onChange={setName}
      />
      <Scopes scopes={scopes} onChange={setScopes} />
      {error !== null && <ErrorNote error={error} />}
      <div className="shoulders-Actions">
        <button
          type="submit"
          className="shoulders-Button shoulders-mod-primary"
          disabled={busy || !isComplete}
        >
          {trans.__('Create')}
        </button>
        <Button onClick={onCancel}>{trans.__('Cancel')}</Button>
      </div>
    </form>
  );
}

function Scopes(props: {
  scopes: readonly AccessScope[];
  onChange: (scopes: readonly AccessScope[]) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { scopes, onChange } = props;
  return (
    <fieldset className="shoulders-AccessScopes">
      <legend>{trans.__('Allows')}</legend>
      {SCOPES.map(scope => (
        <label key={scope}>
          <input
            type="checkbox"
            checked={scopes.includes(scope)}
            onChange={event =>
              onChange(
                SCOPES.filter(each =>
                  each === scope ? event.target.checked : scopes.includes(each)
                )
              )
            }
          />
          <span>
            <code>{scope}</code> {scopeNote(scope, trans)}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** What a scope allows. */
export function scopeNote(
  scope: AccessScope,
  trans: TranslationBundle
): string {
  switch (scope) {
    case 'read':
      return trans.__('Read notebooks, documents and outputs');
    case 'edit':
      return trans.__('Change notebooks and documents');
    case 'run':
      return trans.__('Run cells and code');
    case 'files':
      return trans.__('List and read other files');
  }
}
