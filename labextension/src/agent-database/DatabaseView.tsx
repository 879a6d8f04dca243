/** The agent's database as tables, read-only. Loaded when it is first opened. */

import '../../style/chat/panel.css';
import '../../style/ui/controls.css';
import '../../style/agent-database/view.css';

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { useAction, ViewContext } from '../ui/hooks';
import { Button, ErrorNote, IconButton } from '../ui/primitives';
import { visible } from '../text/hiddenCharacters';
import { formatSize } from '../text/numberFormat';
import type { AgentDatabase } from '../wire/generated';
import type { IDatabaseApi } from './api';
import type { IDatabaseHost } from './databaseHost';
import { TableView } from './TableView';
import { useRenewedAnswer } from './useRenewedAnswer';

export function DatabaseView(props: {
  host: IDatabaseHost;
  api: IDatabaseApi;
  /** Counts the times it was shown; each reads the tables again. */
  shown: number;
}): React.JSX.Element {
  const { host, api } = props;
  const { trans } = host;
  const [reads, setReads] = React.useState(0);
  const { answer, error } = useRenewedAnswer(`${props.shown}:${reads}`, () =>
    api.tables()
  );
  const read = (): void => setReads(reads + 1);
  return (
    <ViewContext.Provider value={host}>
      <div className="shoulders-Chat shoulders-Database">
        <div className="shoulders-Database-header">
          <h2>{trans.__('The agent’s database')}</h2>
          <span className="shoulders-Database-size">
            {sizeText(answer, trans)}
          </span>
          <IconButton
            icon="retry"
            label={trans.__('Read again')}
            onClick={read}
          />
        </div>
        {error !== null && <ErrorNote error={error} />}
        {answer !== null && (
          <Content
            key={answer.file ?? ''}
            {...{ api, host, read }}
            database={answer}
            reads={props.shown + reads}
          />
        )}
      </div>
    </ViewContext.Provider>
  );
}

function sizeText(
  database: AgentDatabase | null,
  trans: TranslationBundle
): string {
  const size = database?.size ?? null;
  return database === null || size === null || !database.enabled
    ? ''
    : trans.__('%1 of %2', formatSize(size), formatSize(database.limit));
}

interface IContentProps {
  readonly database: AgentDatabase;
  readonly api: IDatabaseApi;
  readonly host: IDatabaseHost;
  readonly reads: number;
  readonly read: () => void;
}

function Content(props: IContentProps): React.JSX.Element {
  const { database, host } = props;
  const { trans } = host;
  const [chosen, setChosen] = React.useState<string | null>(null);
  if (!database.enabled) {
    return <SwitchOn {...props} />;
  }
  if (database.problem !== null) {
    return (
      <p className="shoulders-Database-empty" role="alert">
        {visible(database.problem)}
      </p>
    );
  }
  const table =
    database.tables.find(({ name }) => name === chosen) ?? database.tables[0];
  if (table === undefined) {
    return (
      <p className="shoulders-Database-empty">
        {trans.__(
          'There are no tables yet. Ask the agent to keep records, for example: “After each training run, add its parameters and its loss to your database.”'
        )}
      </p>
    );
  }
  return (
    <div className="shoulders-Database-content">
      <nav aria-label={trans.__('Tables')}>
        <ul>
          {database.tables.map(({ name, kind }) => (
            <li key={name}>
              <button
                type="button"
                className="shoulders-Database-link"
                aria-current={name === table.name ? 'true' : undefined}
                onClick={() => setChosen(name)}
              >
                {visible(name)}
                {kind === 'view' && (
                  <span className="shoulders-Database-kind">
                    {trans.__('view')}
                  </span>
                )}
              </button>
            </li>
          ))}
        </ul>
      </nav>
      <TableView
        key={table.name}
        table={table}
        api={props.api}
        host={host}
        reads={props.reads}
      />
    </div>
  );
}

function SwitchOn({ api, host, read }: IContentProps): React.JSX.Element {
  const { trans } = host;
  const { busy, error, run } = useAction();
  return (
    <div className="shoulders-Database-empty">
      <p>
        {trans.__(
          'The agent can keep records of this folder in a small database: results of runs, measurements, lists of what is done. It is off.'
        )}
      </p>
      <p>
        {trans.__(
          'Once it is on, the agent can read it at any time; changes ask as edits of files do, and you can undo them. Here you see every table.'
        )}
      </p>
      {error !== null && <ErrorNote error={error} />}
      <Button
        kind="primary"
        disabled={busy}
        onClick={() => run(() => api.switchOn().then(read))}
      >
        {trans.__('Switch on for this folder')}
      </Button>
    </div>
  );
}
