/** One statement: its text, date and conversation, with its form and the buttons to edit and delete it. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { visible } from '../../text/hiddenCharacters';
import { useAction, useTrans } from '../../ui/hooks';
import { Badge, Button, ErrorNote } from '../../ui/primitives';
import type { MemoryChange, MemoryStatement } from '../../wire/generated';
import { useSettingsPage } from '../components/hooks';
import { useFocusAfter } from '../components/useFocusRecovery';

/** The server's limit of a statement. */
export const LONGEST = 500;

export function StatementLine(props: {
  statement: MemoryStatement;
  onRemove: () => void;
  onChange: (change: MemoryChange) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { store } = useSettingsPage();
  const { busy, error, run } = useAction();
  const [isEditing, setEditing] = React.useState(false);
  const edit = React.useRef<HTMLDivElement>(null);
  const { statement, onRemove, onChange } = props;
  const text = visible(statement.text);
  useFocusAfter(!isEditing, () => edit.current?.querySelector('button'));
  const close = (): void => setEditing(false);
  const remove = async (): Promise<void> => {
    onRemove();
    onChange(await store.memory.remove(statement.id));
  };
  return (
    <li className="shoulders-Line shoulders-mod-rule" aria-label={text}>
      {isEditing ? (
        <StatementForm
          label={trans.__('Statement')}
          text={statement.text}
          action={trans.__('Save')}
          onCancel={close}
          onSave={async changed => {
            onChange(await store.memory.edit(statement.id, changed));
            close();
          }}
        />
      ) : (
        <>
          <div className="shoulders-Line-body">
            <span className="shoulders-Memory-text">{text}</span>
            <Facts statement={statement} />
          </div>
          <div className="shoulders-Line-actions" ref={edit}>
            <Button
              label={trans.__('Edit: %1', text)}
              disabled={busy}
              onClick={() => setEditing(true)}
            >
              {trans.__('Edit')}
            </Button>
            <Button
              label={trans.__('Delete: %1', text)}
              disabled={busy}
              onClick={() => run(remove)}
            >
              {trans.__('Delete')}
            </Button>
          </div>
        </>
      )}
      {error !== null && <ErrorNote error={error} />}
    </li>
  );
}

/** Date, conversation, and whether it came with the folder. */
function Facts({
  statement
}: {
  statement: MemoryStatement;
}): React.JSX.Element {
  const trans = useTrans();
  const { host, reviewFolder } = useSettingsPage();
  const { date, session_id, state } = statement;
  return (
    <div className="shoulders-Line-facts">
      {date === null ? trans.__('written by hand') : dateText(date, trans)}
      {session_id !== null && (
        <>
          {' · '}
          <button
            type="button"
            className="shoulders-Link"
            aria-label={trans.__(
              'Conversation of: %1',
              visible(statement.text)
            )}
            onClick={() => host.openConversation(session_id)}
          >
            {trans.__('Conversation')}
          </button>
        </>
      )}
      {state !== 'trusted' && (
        <>
          {' · '}
          <Badge kind="warning">
            {state === 'declined'
              ? trans.__('not used')
              : trans.__('came with the folder')}
          </Badge>{' '}
          <button
            type="button"
            className="shoulders-Link"
            onClick={reviewFolder}
          >
            {trans.__('Review…')}
          </button>
        </>
      )}
    </div>
  );
}

function dateText(date: string, trans: TranslationBundle): string {
  const moment = new Date(`${date}T12:00:00`);
  return Number.isNaN(moment.getTime())
    ? visible(date)
    : trans.__(
        'since %1',
        moment.toLocaleDateString(undefined, { dateStyle: 'medium' })
      );
}

/** A field for a statement, with its buttons. */
export function StatementForm(props: {
  label: string;
  text: string;
  action: string;
  onSave: (text: string) => Promise<unknown>;
  onCancel: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { busy, error, run } = useAction();
  const [text, setText] = React.useState(props.text);
  const id = React.useId();
  const isReady = text.trim() !== '' && !busy;
  const save = (): void => run(() => props.onSave(text));
  return (
    <div className="shoulders-Memory-form">
      <label htmlFor={id}>{props.label}</label>
      <input
        id={id}
        className="shoulders-Input"
        type="text"
        autoComplete="off"
        autoFocus
        maxLength={LONGEST}
        value={text}
        onChange={event => setText(event.target.value)}
        onKeyDown={event => {
          if (event.key === 'Enter' && isReady) {
            save();
          } else if (event.key === 'Escape') {
            event.stopPropagation();
            props.onCancel();
          }
        }}
      />
      {error !== null && <ErrorNote error={error} />}
      <div className="shoulders-Actions">
        <Button kind="primary" disabled={!isReady} onClick={save}>
          {props.action}
        </Button>
        <Button disabled={busy} onClick={props.onCancel}>
          {trans.__('Cancel')}
        </Button>
      </div>
    </div>
  );
}
