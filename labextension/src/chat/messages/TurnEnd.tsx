/** The end of a turn, notices of the engine, and errors. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { serverText } from '../../text/serverMessages';
import { legible } from '../../text/hiddenCharacters';
import type { EndView, ErrorInfo, NoticeView } from '../../wire/generated';
import { ChangeList } from '../changes/ChangeList';
import { Markdown } from '../markdown/Markdown';
import { Button, ErrorNote } from '../../ui/primitives';
import { TryAgain } from './RetryStatus';
import {
  useHost,
  useLeadingClient,
  useTrans,
  usePendingInput
} from '../../ui/hooks';

/** A notice of the engine. */
export const Notice = React.memo(function Notice(props: {
  notice: NoticeView;
}): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  const { level, text } = props.notice;
  return (
    <div className={`shoulders-Remark shoulders-mod-${level}`}>
      <Icon name={level === 'info' ? 'info' : 'error'} />
      <span>{legible(serverText(trans, text))}</span>
    </div>
  );
});

interface IEnd {
  end: EndView;
  /** Whether nothing followed; only then can it be retried. */
  last: boolean;
}

/** The end of a turn: its reason, unless it was a plain answer, and its changes. */
export const TurnEnd = React.memo(function End(props: IEnd): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  const { turn_id, exit, error, summary } = props.end;
  const changes = <ChangeList turn={turn_id} />;
  if (error === null && summary !== null) {
    return (
      <section
        className="shoulders-Completed"
        aria-label={trans.__('Completed')}
      >
        <div className="shoulders-Completed-summary">
          <Icon name="check" />
          <Markdown text={summary} />
        </div>
        {changes}
      </section>
    );
  }
  return (
    <>
      {exit !== 'final_response' && <Exit {...props} />}
      {changes}
    </>
  );
});

/** Why a turn ended early. */
function Exit(props: IEnd): React.JSX.Element {
  const trans = useTrans();
  const isOurs = useLeadingClient() === null;
  const { exit, error } = props.end;
  if (error !== null) {
    const budget = exit === 'budget_exhausted' && !isAdministrators(error);
    return (
      <ErrorNote error={error}>
        {props.last && isOurs && (
          <>
            {budget && <ChangeBudget />}
            <TryAgain />
          </>
        )}
      </ErrorNote>
    );
  }
  return <div className="shoulders-Ended">{exitText(exit, trans)}</div>;
}

/** Whether the limit is the administrator's. */
function isAdministrators({ details }: ErrorInfo): boolean {
  return details?.administrator === true;
}

/** Opens the budget form. */
function ChangeBudget(): React.JSX.Element {
  const trans = useTrans();
  const { editBudget } = usePendingInput();
  return (
    <Button kind="primary" onClick={editBudget}>
      {trans.__('Change the budget…')}
    </Button>
  );
}

function exitText(exit: EndView['exit'], trans: TranslationBundle): string {
  switch (exit) {
    case 'final_response':
    case 'ended_by_tool':
      return trans.__('Done');
    case 'step_cap':
      return trans.__('Stopped at the step limit. Send a message to continue.');
    case 'tool_rejected':
      return trans.__('Stopped because a call was denied');
    case 'cancelled':
      return trans.__('Stopped');
    case 'context_overflow':
      return trans.__(
        'The conversation no longer fits the model. Start a new one.'
      );
    case 'budget_exhausted':
      return trans.__('The budget is used up');
    case 'error':
      return trans.__('Failed');
    case 'interrupted':
      return trans.__('Interrupted');
  }
}
