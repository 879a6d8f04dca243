/** The answers to an approval: run, allow for longer, or deny with instructions. */

import * as React from 'react';

import {
  directScope,
  reachOf,
  verbOf,
  type ApprovalScope
} from '../../model/view-models/approvals';
import type {
  AnswerApproval,
  ApprovalView,
  CallView
} from '../../wire/generated';
import {
  allowanceName,
  reachName,
  reachNote,
  scopeName,
  verbName
} from './approvalLabels';
import { Menu } from '../../ui/Menu';
import { Button, ErrorNote } from '../../ui/primitives';
import {
  useAnswer,
  useRestoreFocus,
  useTabContext,
  useTrans
} from '../../ui/hooks';

export function ApprovalActions({
  call,
  approval
}: {
  call: CallView;
  approval: ApprovalView;
}): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { error, late, runOnce } = useAnswer();
  const [denying, setDenying] = React.useState(false);
  const answer = (body: AnswerApproval): void => {
    runOnce(() =>
      conversations.commands.answerApproval(tab, call.call_id, body)
    );
  };
  return (
    <>
      <div className="shoulders-Actions">
        <Button
          kind="primary"
          className="shoulders-Approval-run"
          onClick={() => answer({ decision: 'allow', scope: 'once' })}
        >
          {verbName(verbOf(call.tool), trans)}
        </Button>
        <Allowances
          approval={approval}
          onAllow={scope => answer({ decision: 'allow', scope })}
        />
        <Button
          className="shoulders-Approval-no"
          expanded={denying}
          onClick={() => setDenying(!denying)}
        >
          {trans.__('No, do this instead…')}
        </Button>
      </div>
      {denying && (
        <Denial
          onDeny={feedback => answer({ decision: 'deny', feedback })}
          onBack={() => setDenying(false)}
        />
      )}
      {late && (
        <p className="shoulders-Card-remark" role="status">
          {trans.__('This has already been answered.')}
        </p>
      )}
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}

/** The widest allowance as a button with its reach, the others in a menu. */
function Allowances(props: {
  approval: ApprovalView;
  onAllow: (scope: ApprovalScope) => void;
}): React.JSX.Element | null {
  const trans = useTrans();
  const { approval, onAllow } = props;
  const direct = directScope(approval.scopes);
  if (direct === null) {
    return null;
  }
  const others = approval.scopes.filter(
    scope => scope !== 'once' && scope !== direct
  );
  const reach = reachOf(direct, approval.arguments, approval.reach);
  return (
    <span className="shoulders-Approval-allowances">
      <Button
        className="shoulders-Approval-always"
        title={reachName(reach, trans)}
        onClick={() => onAllow(direct)}
      >
        {allowanceName(direct, reach, trans)}
      </Button>
      {others.length > 0 && (
        <Menu
          icon="caret-down"
          label={trans.__('Allow for less…')}
          className="shoulders-Button shoulders-Approval-less"
          items={others.map(scope => ({
            key: scope,
            title: scopeName(scope, approval, trans),
            ...reachNote(approval, scope, trans),
            act: () => onAllow(scope)
          }))}
        />
      )}
    </span>
  );
}

/** Denies the call. Given a reason, the agent continues with it. */
function Denial(props: {
  onDeny: (feedback: string | null) => void;
  onBack: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const [feedback, setFeedback] = React.useState('');
  const reason = feedback.trim();
  const deny = (): void => props.onDeny(reason || null);
  const form = useRestoreFocus<HTMLFormElement>();
  return (
    <form
      className="shoulders-Denial"
      ref={form}
      onSubmit={event => {
        event.preventDefault();
        deny();
      }}
      onKeyDown={event => {
        if (event.key === 'Escape' && !event.nativeEvent.isComposing) {
          event.stopPropagation();
          form.current?.parentElement
            ?.querySelector<HTMLElement>('.shoulders-Approval-no')
            ?.focus();
          props.onBack();
        }
      }}
    >
      <input
        className="shoulders-Input"
        // The user just opened this field.
        autoFocus
        value={feedback}
        placeholder={trans.__('What to do instead (optional)')}
        aria-label={trans.__('What to do instead (optional)')}
        onChange={event => setFeedback(event.target.value)}
      />
      <Button onClick={deny}>
        {reason === ''
          ? trans.__('Deny and stop')
          : trans.__('Deny and continue')}
      </Button>
    </form>
  );
}
