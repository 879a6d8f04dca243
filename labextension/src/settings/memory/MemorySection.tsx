/** The memory: preferences, and the statements of both files, to add, edit, delete and switch off. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { visible } from '../../text/hiddenCharacters';
import { useAction, useTrans } from '../../ui/hooks';
import { Button, Disclosure, ErrorNote } from '../../ui/primitives';
import type {
  MemoryChange,
  MemoryFileView,
  MemoryView,
  Settings
} from '../../wire/generated';
import { Group, Loaded } from '../components/components';
import { SwitchSetting } from '../components/fields';
import { useStore } from '../components/hooks';
import {
  useFocusAfter,
  useFocusAfterRemoval
} from '../components/useFocusRecovery';
import { PreferenceForm } from './PreferenceForm';
import { StatementForm, StatementLine } from './StatementLine';

export function MemorySection(): React.JSX.Element {
  const trans = useTrans();
  const { memory, settings } = useStore();
  React.useEffect(() => void memory.view.refresh(), [memory]);
  return (
    <>
      <p className="shoulders-Settings-note">
        {trans.__(
          'What the agent knows from earlier conversations. It is sent with your first message; what you write comes first. The agent asks before it remembers something after it has read text that may not be yours.'
        )}
      </p>
      <Loaded resource={settings}>
        {value => <Switch settings={value} />}
      </Loaded>
      <Loaded resource={memory.view}>{view => <Memory view={view} />}</Loaded>
    </>
  );
}

function Switch({ settings }: { settings: Settings }): React.JSX.Element {
  const trans = useTrans();
  const { memory } = useStore();
  const { enabled } = settings.values.memory;
  const before = React.useRef(enabled);
  React.useEffect(() => {
    if (before.current !== enabled) {
      before.current = enabled;
      void memory.view.refresh();
    }
  }, [enabled, memory]);
  return (
    <SwitchSetting
      settings={settings}
      area="memory"
      name="enabled"
      label={trans.__('Remember across conversations')}
    />
  );
}

function Memory({ view }: { view: MemoryView }): React.JSX.Element {
  const trans = useTrans();
  const [change, setChange] = React.useState<MemoryChange | null>(null);
  const mine = view.files.find(({ scope }) => scope === 'person');
  if (!view.enabled) {
    return (
      <p className="shoulders-Settings-note" role="status">
        {trans.__(
          'The memory is switched off: nothing is remembered, and nothing of it is sent. The files stay as they are.'
        )}
      </p>
    );
  }
  return (
    <>
      {mine?.error === null && <PreferenceForm statements={mine.statements} />}
      <Outcome change={change} onUndone={() => setChange(null)} />
      {view.files.map(file => (
        <File key={file.scope} file={file} onChange={setChange} />
      ))}
    </>
  );
}

/** The last change, with its undo. */
function Outcome(props: {
  change: MemoryChange | null;
  onUndone: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { memory } = useStore();
  const { busy, error, run } = useAction();
  const { change, onUndone } = props;
  const line = React.useRef<HTMLDivElement>(null);
  const undo = async (): Promise<void> => {
    if (change !== null) {
      await memory.undo(change);
      onUndone();
      line.current?.focus();
    }
  };
  return (
    <div
      className={
        change === null ? '' : 'shoulders-Notice shoulders-Memory-outcome'
      }
      role="status"
      tabIndex={-1}
      ref={line}
    >
      {change !== null && (
        <>
          <span>{changeText(change, trans)}</span>
          <Button disabled={busy} onClick={() => run(undo)}>
            {trans.__('Undo')}
          </Button>
          {error !== null && <ErrorNote error={error} />}
        </>
      )}
    </div>
  );
}

function changeText(change: MemoryChange, trans: TranslationBundle): string {
  const text = visible(change.statement.text);
  if (change.kind === 'forgot') {
    return trans.__('Deleted: %1', text);
  }
  return change.previous === null
    ? trans.__('Saved: %1', text)
    : trans.__('Saved: %1 (before: %2)', text, visible(change.previous));
}

function File(props: {
  file: MemoryFileView;
  onChange: (change: MemoryChange) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { file, onChange } = props;
  const { statements, error } = file;
  const add = React.useRef<HTMLDivElement>(null);
  const { list, removes } = useFocusAfterRemoval(statements.length, () =>
    add.current?.querySelector('button')
  );
  return (
    <Group
      title={
        file.scope === 'person'
          ? trans.__('About you')
          : trans.__('This folder')
      }
      note={
        file.scope === 'person'
          ? trans.__('Used in all your folders. Kept in %1.', file.path)
          : trans.__('Used in this folder only. Kept in %1.', file.path)
      }
    >
      {error !== null && <ErrorNote error={error} />}
      {error === null && statements.length === 0 && (
        <p className="shoulders-Settings-note">
          {trans.__('Nothing is remembered yet.')}
        </p>
      )}
      <ol className="shoulders-Lines" ref={list}>
        {statements.map((statement, index) => (
          <StatementLine
            key={statement.id}
            statement={statement}
            onRemove={() => removes(index)}
            onChange={onChange}
          />
        ))}
      </ol>
      {error === null && (
        <div ref={add}>
          <Add scope={file.scope} onChange={onChange} />
        </div>
      )}
      {file.text !== null && (
        <Disclosure
          className="shoulders-Memory-file"
          summary={trans.__('Show the file')}
          label={trans.__('Show the file %1', file.path)}
        >
          {() => (
            <pre className="shoulders-Plain" tabIndex={0}>
              {visible(file.text ?? '')}
            </pre>
          )}
        </Disclosure>
      )}
    </Group>
  );
}

function Add(props: {
  scope: MemoryFileView['scope'];
  onChange: (change: MemoryChange) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { memory } = useStore();
  const [isOpen, setOpen] = React.useState(false);
  const place = React.useRef<HTMLDivElement>(null);
  const { scope, onChange } = props;
  useFocusAfter(!isOpen, () => place.current?.querySelector('button'));
  const close = (): void => setOpen(false);
  return (
    <div className="shoulders-Actions" ref={place}>
      {isOpen ? (
        <StatementForm
          label={trans.__('New statement')}
          text=""
          action={trans.__('Add')}
          onCancel={close}
          onSave={async text => {
            onChange(await memory.add({ text, scope, preference: false }));
            close();
          }}
        />
      ) : (
        <Button
          label={
            scope === 'person'
              ? trans.__('Add a statement about you')
              : trans.__('Add a statement about this folder')
          }
          onClick={() => setOpen(true)}
        >
          {trans.__('Add…')}
        </Button>
      )}
    </div>
  );
}
