/** The result of saving a provider or key, with a button to use it. Shown by the forms that add and edit providers. */

import * as React from 'react';

import { Button, ErrorNote } from '../../ui/primitives';
import { useAction, useTrans } from '../../ui/hooks';
import { visible } from '../../text/hiddenCharacters';
import type { ErrorInfo, SavedProvider } from '../../wire/generated';
import { valueOf } from '../../client/resource';
import { settingOf } from '../store/settingsStore';
import { TestResult } from './TestResult';
import { useResource, useStore } from '../components/hooks';

/** Why a provider cannot be saved, and the button that saves it. */
export function SaveRow(props: {
  /** What is wrong in the form; empty if nothing. */
  problem: string;
  busy: boolean;
  error: ErrorInfo | null;
  saved: SavedProvider | null;
  onSave: (untested: boolean) => void;
  children?: React.ReactNode;
}): React.JSX.Element {
  const trans = useTrans();
  const { problem, busy, error, saved, onSave } = props;
  const refusal = saved?.stored === false ? saved.test?.error : null;
  return (
    <>
      {error !== null && <ErrorNote error={error} />}
      {refusal && (
        <ErrorNote error={refusal}>
          <span className="shoulders-Settings-note">
            {trans.__('Not saved.')}
          </span>
          <Button disabled={busy} onClick={() => onSave(true)}>
            {trans.__('Save anyway')}
          </Button>
        </ErrorNote>
      )}
      {problem !== '' && <p className="shoulders-Settings-note">{problem}</p>}
      <div className="shoulders-Actions">
        <Button
          kind="primary"
          disabled={busy || problem !== ''}
          onClick={() => onSave(false)}
        >
          {busy ? trans.__('Testing…') : trans.__('Save and test')}
        </Button>
        {props.children}
      </div>
    </>
  );
}

/** The test result of a stored provider. */
export function Stored(props: {
  name: string;
  saved: SavedProvider;
  onDone: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { name, saved, onDone } = props;
  const model = saved.test?.model ?? null;
  return (
    <>
      <p>{trans.__('%1 is saved.', visible(name))}</p>
      <TestResult name={name} result={saved.test}>
        {saved.test === null && (
          <p className="shoulders-Settings-note">
            {trans.__(
              'Not tested: it has no model yet, or you skipped the test.'
            )}
          </p>
        )}
      </TestResult>
      <div className="shoulders-Actions">
        {model !== null && saved.test?.ok === true && (
          <UseModel model={model} />
        )}
        <Button onClick={onDone}>{trans.__('Done')}</Button>
      </div>
    </>
  );
}

/** Makes a model the default for new conversations. */
function UseModel({ model }: { model: string }): React.JSX.Element {
  const trans = useTrans();
  const store = useStore();
  const { busy, error, run } = useAction();
  const { value } = useResource(store.models);
  const name = value?.models.find(({ id }) => id === model)?.name ?? model;
  if (value?.default === model) {
    return (
      <span className="shoulders-Settings-note">
        {trans.__('New conversations use %1.', visible(name))}
      </span>
    );
  }
  const choose = async (): Promise<void> => {
    const settings = await valueOf(store.settings);
    const before = settingOf(settings, 'models', 'default');
    await store.putSetting('models', 'default', model, before, 'user');
    await store.models.refresh();
  };
  return (
    <>
      <Button kind="primary" disabled={busy} onClick={() => run(choose)}>
        {trans.__('Use %1 for new conversations', visible(name))}
      </Button>
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}
