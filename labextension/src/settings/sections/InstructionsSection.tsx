/** The user's instruction files, which models read in every conversation. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { Badge, Button, ErrorNote } from '../../ui/primitives';
import { useAction, useTrans } from '../../ui/hooks';
import { visible } from '../../text/hiddenCharacters';
import type { InstructionFile, InstructionList } from '../../wire/generated';
import { Loaded, Problems } from '../components/components';
import { useSettingsPage } from '../components/hooks';

export function InstructionsSection(): React.JSX.Element {
  const trans = useTrans();
  const { store } = useSettingsPage();
  React.useEffect(() => void store.instructions.refresh(), [store]);
  return (
    <>
      <p className="shoulders-Settings-note">
        {trans.__(
          'The model gets these instructions in every conversation in this workspace, from the next message on. The agent asks before it edits them, in every mode.'
        )}
      </p>
      <Loaded resource={store.instructions}>
        {list => <Files list={list} />}
      </Loaded>
    </>
  );
}

function Files({ list }: { list: InstructionList }): React.JSX.Element {
  const trans = useTrans();
  const { host } = useSettingsPage();
  const { busy, error, run } = useAction();
  const hasOwn = list.files.some(({ role }) => role === 'instructions');
  return (
    <>
      <Problems problems={list.problems} />
      <ul className="shoulders-Lines">
        {list.files.map(file => (
          <File key={file.path} file={file} />
        ))}
      </ul>
      {!hasOwn && (
        <>
          <p className="shoulders-Settings-note">
            {trans.__('There is no _instructions.md yet.')}
          </p>
          <div className="shoulders-Actions">
            <Button
              kind="primary"
              disabled={busy}
              onClick={() => run(host.openInstructions)}
            >
              {trans.__('Write instructions')}
            </Button>
          </div>
        </>
      )}
      {error !== null && <ErrorNote error={error} />}
      <p className="shoulders-Settings-note">
        {trans._n(
          'Models can use %1 skill when it fits. Skills are in .shoulders/skills.',
          'Models can use %1 skills when they fit. Skills are in .shoulders/skills.',
          list.skills
        )}
      </p>
    </>
  );
}

function File({ file }: { file: InstructionFile }): React.JSX.Element {
  const trans = useTrans();
  const { host } = useSettingsPage();
  const facts = [
    trans._n('%1 character', '%1 characters', file.characters),
    file.rules === 0
      ? ''
      : trans._n(
          '%1 rule for some documents only',
          '%1 rules for some documents only',
          file.rules
        )
  ].filter(fact => fact !== '');
  return (
    <li className="shoulders-Line">
      <div className="shoulders-Line-head">
        <code>{visible(file.path)}</code>
        <Badge>{roleName(file.role, trans)}</Badge>
        {!file.path.startsWith('.') && (
          <button
            type="button"
            className="shoulders-Link"
            onClick={() => host.openDocument(file.path)}
          >
            {trans.__('Open')}
          </button>
        )}
      </div>
      <div className="shoulders-Line-facts">{facts.join(' · ')}</div>
      <Trust state={file.state} />
      <Problems problems={file.problems} />
    </li>
  );
}

/** Why a file does not count as instructions. */
function Trust({
  state
}: {
  state: InstructionFile['state'];
}): React.JSX.Element | null {
  const trans = useTrans();
  const { reviewFolder } = useSettingsPage();
  if (state === 'trusted') {
    return null;
  }
  return (
    <div className="shoulders-Line-facts">
      {state === 'declined'
        ? trans.__('Not used: you chose not to trust it.')
        : trans.__(
            'Read as data, not as instructions, until you trust it.'
          )}{' '}
      <button type="button" className="shoulders-Link" onClick={reviewFolder}>
        {trans.__('Review…')}
      </button>
    </div>
  );
}

function roleName(
  role: InstructionFile['role'],
  trans: TranslationBundle
): string {
  switch (role) {
    case 'instructions':
      return trans.__('yours');
    case 'system':
      return trans.__('takes precedence');
    case 'other':
      return trans.__('shared with other assistants');
  }
}
