/**
 * A report at the end of a conversation that continued while no page was connected: what ran, for how long, what
 * changed.
 */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { formatDuration } from '../../text/numberFormat';
import { isRunning } from '../../model/view-models/conversationItems';
import { legible } from '../../text/hiddenCharacters';
import type {
  AwayChange,
  AwayReport,
  AwayRun,
  Conversation
} from '../../wire/generated';
import { IconButton } from '../../ui/primitives';
import {
  focusComposer,
  useHost,
  useTabContext,
  useSignal,
  useTrans
} from '../../ui/hooks';

export function AwayReportCard(props: {
  view: Conversation;
}): React.JSX.Element | null {
  const trans = useTrans();
  const title = React.useId();
  const { conversations, tab } = useTabContext();
  const report = useSignal(
    conversations.changed,
    () => conversations.awayReport.report
  );
  if (report === null || report.session_id !== conversations.session(tab)?.id) {
    return null;
  }
  return (
    <section className="shoulders-Card shoulders-Away" aria-labelledby={title}>
      <header className="shoulders-Card-head">
        <span className="shoulders-Call-title" id={title}>
          {trans.__('While you were away')}
        </span>
        <span className="shoulders-Actions-space" />
        <IconButton
          icon="close"
          label={trans.__('Dismiss')}
          onClick={() => {
            conversations.awayReport.dismiss();
            focusComposer();
          }}
        />
      </header>
      <dl className="shoulders-Away-rows">
        <Row
          name={trans.__('Ran')}
          more={report.run_count - report.runs.length}
        >
          {report.runs.map((run, index) => (
            <li key={index}>{runText(run, trans)}</li>
          ))}
        </Row>
        <Row
          name={trans.__('Changed')}
          more={report.change_count - report.changes.length}
        >
          {report.changes.map(change => (
            <li key={`${change.document}-${change.cell_id ?? ''}`}>
              <Change change={change} />
            </li>
          ))}
        </Row>
        <Row name={trans.__('Worked')}>
          <li>{formatDuration(report.working_ms)}</li>
        </Row>
        <Row name={trans.__('Now')}>
          <li>{stateText(report, props.view, trans)}</li>
        </Row>
      </dl>
    </section>
  );
}

function Row(props: {
  name: string;
  more?: number;
  children: React.ReactNode;
}): React.JSX.Element | null {
  const trans = useTrans();
  const { name, more = 0, children } = props;
  return React.Children.count(children) === 0 ? null : (
    <>
      <dt>{name}</dt>
      <dd>
        <ul>
          {children}
          {more > 0 && <li>{trans._n('%1 more', '%1 more', more)}</li>}
        </ul>
      </dd>
    </>
  );
}

function Change({ change }: { change: AwayChange }): React.JSX.Element {
  const { openDocument } = useHost();
  const { document: path, cell_id, title } = change;
  const name = path.slice(path.lastIndexOf('/') + 1);
  const text = legible(title === '' ? name : `${name}: ${title}`);
  return openDocument === null ? (
    <>{text}</>
  ) : (
    <button
      type="button"
      className="shoulders-Away-link"
      title={text}
      onClick={() => openDocument(path, cell_id)}
    >
      {text}
    </button>
  );
}

function runText(
  { title, target, status, duration_ms }: AwayRun,
  trans: TranslationBundle
): string {
  const what = legible([title, target].filter(Boolean).join(' · '));
  const long = duration_ms === null ? '' : formatDuration(duration_ms);
  switch (status) {
    case 'ok':
      return long === '' ? what : `${what}, ${long}`;
    case 'running':
      return trans.__('%1 (still running)', what);
    case 'error':
      return trans.__('%1 (failed)', what);
    case 'denied':
    case 'skipped':
    case 'cancelled':
    case 'unknown':
      return trans.__('%1 (not completed)', what);
  }
}

function stateText(
  { state, question, exit }: AwayReport,
  view: Conversation,
  trans: TranslationBundle
): string {
  if (question !== null && state === 'waiting') {
    const text = legible(question.text);
    return question.kind === 'approval'
      ? trans.__('Waiting for your approval: %1', text)
      : trans.__('Waiting for your answer: %1', text);
  }
  if (state === 'running') {
    return isRunning(view) ? trans.__('Still working') : trans.__('Finished');
  }
  return exit === 'final_response' || exit === 'ended_by_tool'
    ? trans.__('Finished')
    : trans.__('Stopped before the end; the reason is above');
}
