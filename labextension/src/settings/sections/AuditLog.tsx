/** Two records of the agent's actions: approvals and changes. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { Badge, Button, Dots, ErrorNote } from '../../ui/primitives';
import { useSignalVersion, useTrans } from '../../ui/hooks';
import { formatMoment } from '../../text/numberFormat';
import { serverText } from '../../text/serverMessages';
import { visible } from '../../text/hiddenCharacters';
import type { AuditEntry, Operation } from '../../wire/generated';
import { PageLoader } from '../store/pageLoader';
import { useSettingsPage, useStore } from '../components/hooks';

/** Who approved which call. */
export function Approvals(): React.JSX.Element {
  const trans = useTrans();
  const { api } = useStore();
  const [tool, setTool] = React.useState('');
  const list = React.useMemo(
    () =>
      new PageLoader(async cursor => {
        const page = await api.audit({ cursor, tool });
        return { rows: page.entries, cursor: page.next_cursor };
      }),
    [api, tool]
  );
  return (
    <>
      <p className="shoulders-Settings-note">
        {trans.__(
          'Every approval decision, with a fingerprint of the exact arguments.'
        )}
      </p>
      <Filter label={trans.__('Only this tool')} onChange={setTool} />
      <Pages list={list} none={trans.__('No decisions yet.')}>
        {rows =>
          rows.map(entry => (
            <Decision key={`${entry.session_id}:${entry.seq}`} entry={entry} />
          ))
        }
      </Pages>
    </>
  );
}

function Decision({ entry }: { entry: AuditEntry }): React.JSX.Element {
  const trans = useTrans();
  const { host } = useSettingsPage();
  const title = visible(entry.session_title) || trans.__('Untitled');
  return (
    <li className="shoulders-Line">
      <div className="shoulders-Line-head">
        <Badge kind={entry.decision === 'allow' ? 'good' : 'bad'}>
          {entry.decision === 'allow'
            ? trans.__('allowed')
            : trans.__('denied')}
        </Badge>
        <code>{visible(entry.tool)}</code>
        <Moment at={entry.at} />
      </div>
      <div className="shoulders-Line-facts">
        {[
          entry.program === null ? '' : visible(entry.program),
          scopeText(entry, trans),
          authorText(entry.by, trans),
          entry.reason === null
            ? ''
            : visible(serverText(trans, entry.reason.text))
        ]
          .filter(part => part !== '')
          .join(' · ')}
      </div>
      {entry.feedback !== null && (
        <div className="shoulders-Line-facts">
          {trans.__('“%1”', visible(entry.feedback))}
        </div>
      )}
      <div className="shoulders-Line-facts">
        {entry.deleted ? (
          <span>{trans.__('%1 (deleted)', title)}</span>
        ) : (
          <button
            type="button"
            className="shoulders-Link"
            onClick={() => host.openConversation(entry.session_id)}
          >
            {title}
          </button>
        )}{' '}
        <code title={entry.arguments_hash}>
          {entry.arguments_hash.slice(0, 12)}
        </code>
      </div>
    </li>
  );
}

/** Every change of a document. */
export function Changes(): React.JSX.Element {
  const trans = useTrans();
  const { api } = useStore();
  const [path, setPath] = React.useState('');
  const list = React.useMemo(
    () =>
      new PageLoader(async cursor => {
        const page = await api.operations({ cursor, path });
        return { rows: page.operations, cursor: page.next_cursor };
      }),
    [api, path]
  );
  return (
    <>
      <p className="shoulders-Settings-note">
        {trans.__(
          'Every change the agent made to a file or cell, and every undo.'
        )}
      </p>
      <Filter label={trans.__('Only this document')} onChange={setPath} />
      <Pages list={list} none={trans.__('No changes yet.')}>
        {rows => rows.map(row => <Change key={row.id} operation={row} />)}
      </Pages>
    </>
  );
}

function Change({ operation }: { operation: Operation }): React.JSX.Element {
  const trans = useTrans();
  const { kind, state } = operation;
  return (
    <li className="shoulders-Line">
      <div className="shoulders-Line-head">
        <Badge>{kindName(kind, trans)}</Badge>
        <OperationTarget operation={operation} />
        {state !== 'done' && (
          <Badge kind={state === 'failed' ? 'bad' : 'plain'}>
            {stateName(state, trans)}
          </Badge>
        )}
        <Moment at={operation.at} />
      </div>
      <div className="shoulders-Line-facts">
        {changeFacts(operation, trans).join(' · ')}
      </div>
    </li>
  );
}

/** The changed document; it can be opened if it still exists. */
function OperationTarget({
  operation
}: {
  operation: Operation;
}): React.JSX.Element {
  const { host } = useSettingsPage();
  const { document, new_document, kind } = operation;
  const path = new_document ?? document;
  return kind === 'delete' || kind === 'command' || kind === 'mkdir' ? (
    <code>{visible(path)}</code>
  ) : (
    <button
      type="button"
      className="shoulders-Link"
      onClick={() => host.openDocument(path)}
    >
      {visible(path)}
    </button>
  );
}

function changeFacts(
  operation: Operation,
  trans: TranslationBundle
): readonly string[] {
  const { document, new_document } = operation;
  return [
    new_document === null ? '' : trans.__('from %1', visible(document)),
    authorText(operation.by, trans),
    undoFact(operation, trans)
  ].filter(part => part !== '');
}

/** Why a change cannot be undone or was not made. Badges show changes in progress or undone. */
function undoFact(
  { can_undo, state, reason }: Operation,
  trans: TranslationBundle
): string {
  if (can_undo || reason === null) {
    return '';
  }
  switch (state) {
    case 'done':
      return trans.__(
        'cannot be undone: %1',
        visible(serverText(trans, reason))
      );
    case 'failed':
      return visible(serverText(trans, reason));
    case 'begun':
    case 'undone':
      return '';
  }
}

/** A list with a button for more. */
function Pages<T>(props: {
  list: PageLoader<T>;
  none: string;
  children: (rows: readonly T[]) => React.ReactNode;
}): React.JSX.Element {
  const trans = useTrans();
  const { list, none } = props;
  useSignalVersion(list.changed);
  React.useEffect(() => list.ensureLoaded(), [list]);
  const { rows, error } = list;
  const more = (): void => void list.loadMore();
  return (
    <>
      {rows === null && error === null && <Dots />}
      {rows?.length === 0 && <p className="shoulders-Settings-note">{none}</p>}
      <ul className="shoulders-Lines">
        {rows !== null && props.children(rows)}
      </ul>
      {error !== null && (
        <ErrorNote error={error}>
          <Button onClick={more}>{trans.__('Try again')}</Button>
        </ErrorNote>
      )}
      {list.hasMore && error === null && (
        <div className="shoulders-Actions">
          <Button disabled={list.isBusy} onClick={more}>
            {trans.__('Show more')}
          </Button>
        </div>
      )}
    </>
  );
}

/** A filter that is applied when the user finished typing. */
function Filter(props: {
  label: string;
  onChange: (text: string) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const [text, setText] = React.useState('');
  return (
    <form
      role="search"
      className="shoulders-Settings-filter"
      onSubmit={event => {
        event.preventDefault();
        props.onChange(text.trim());
      }}
    >
      <input
        type="search"
        className="shoulders-Input shoulders-Settings-search"
        aria-label={props.label}
        placeholder={props.label}
        value={text}
        onChange={event => {
          setText(event.target.value);
          if (event.target.value === '') {
            props.onChange('');
          }
        }}
      />
      <button type="submit" className="shoulders-Button">
        {trans.__('Filter')}
      </button>
    </form>
  );
}

function Moment({ at }: { at: string }): React.JSX.Element {
  return (
    <time
      className="shoulders-Line-moment"
      dateTime={at}
      title={new Date(at).toLocaleString()}
    >
      {formatMoment(at)}
    </time>
  );
}

function scopeText(entry: AuditEntry, trans: TranslationBundle): string {
  switch (entry.scope) {
    case 'once':
      return trans.__('this once');
    case 'document':
      return trans.__('for the document');
    case 'session':
      return trans.__('for the conversation');
    case 'always':
      return trans.__('always, as a rule');
  }
}

function authorText(by: AuditEntry['by'], trans: TranslationBundle): string {
  switch (by) {
    case 'user':
      return trans.__('by you');
    case 'agent':
      return trans.__('by the agent');
    case 'policy':
      return trans.__('by a rule');
    case 'system':
      return trans.__('by the program');
  }
}

function kindName(kind: Operation['kind'], trans: TranslationBundle): string {
  switch (kind) {
    case 'edit':
      return trans.__('edited');
    case 'create':
      return trans.__('created');
    case 'delete':
      return trans.__('deleted');
    case 'move':
      return trans.__('moved');
    case 'copy':
      return trans.__('copied');
    case 'mkdir':
      return trans.__('folder created');
    case 'outputs':
      return trans.__('outputs');
    case 'command':
      return trans.__('command');
    case 'memory':
      return trans.__('memory');
    case 'database':
      return trans.__('database');
  }
}

function stateName(
  state: Operation['state'],
  trans: TranslationBundle
): string {
  switch (state) {
    case 'begun':
      return trans.__('in progress');
    case 'done':
      return trans.__('done');
    case 'failed':
      return trans.__('failed');
    case 'undone':
      return trans.__('undone');
  }
}
