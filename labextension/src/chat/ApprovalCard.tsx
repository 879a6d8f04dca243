/** Asks the user whether a call may run: what exactly, why it asks, and for how long the answer holds. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import {
  isNotebook,
  reachOf,
  type ApprovalScope,
  type Reach
} from '../model/approval';
import { toolIcon } from '../model/present';
import { visible } from '../model/visible';
import type { AnswerApproval, ApprovalView, CallView } from '../wire/generated';
import { Arguments } from './CallDetail';
import { Code } from './CodeBlock';
import { DiffText } from './Diff';
import { Menu } from './Menu';
import { Badge, Button, Disclosure, ErrorNote } from './parts';
import { useAnswer, useFocusKept, useHost, usePlace, useTrans } from './use';

interface IApprovalProps {
  call: CallView;
  approval: ApprovalView;
}

export function ApprovalCard({
  call,
  approval
}: IApprovalProps): React.JSX.Element {
  const { Icon } = useHost();
  const title = React.useId();
  const card = useFocusKept<HTMLElement>();
  return (
    <section
      className="shoulders-Card shoulders-Approval"
      aria-labelledby={title}
      ref={card}
    >
      <header className="shoulders-Card-head" id={title}>
        <Icon name={toolIcon(call.tool)} />
        <span className="shoulders-Call-title">{visible(call.title)}</span>
        {call.target !== null && !call.title.includes(call.target) && (
          <span className="shoulders-Call-target">{visible(call.target)}</span>
        )}
        {call.external && <ExternalBadge />}
      </header>
      {typeof approval.sandboxed === 'boolean' && (
        <div className="shoulders-Approval-confinement">
          <SandboxBadge
            sandboxed={approval.sandboxed}
            isReadOnly={approval.read_only === true}
          />
          {/* Logs of earlier versions do not say. */}
          {typeof approval.network === 'boolean' && (
            <NetworkBadge open={approval.network} />
          )}
        </div>
      )}
      <Exactly approval={approval} />
      <p className="shoulders-Card-remark">
        {visible(sentence(approval.reason.text))}
      </p>
      <Decision call={call} approval={approval} />
    </section>
  );
}

/** What leaves this computer is said before it does. */
function ExternalBadge(): React.JSX.Element {
  const trans = useTrans();
  return (
    <Badge
      kind="warning"
      title={trans.__(
        'It sends something to a service outside of this computer.'
      )}
    >
      {trans.__('external')}
    </Badge>
  );
}

/** Whether the system confines a command. */
function SandboxBadge(props: {
  sandboxed: boolean;
  isReadOnly: boolean;
}): React.JSX.Element {
  const trans = useTrans();
  if (!props.sandboxed) {
    return (
      <Badge
        kind="warning"
        title={trans.__('It can do whatever you can on this computer.')}
      >
        {trans.__('not sandboxed')}
      </Badge>
    );
  }
  return props.isReadOnly ? (
    <Badge
      kind="good"
      title={trans.__('It cannot change the workspace or read keys.')}
    >
      {trans.__('sandboxed, read-only')}
    </Badge>
  ) : (
    <Badge
      kind="good"
      title={trans.__('It cannot write outside of the workspace or read keys.')}
    >
      {trans.__('sandboxed')}
    </Badge>
  );
}

/** Whether a sandboxed command may use the network. */
function NetworkBadge({ open }: { open: boolean }): React.JSX.Element {
  const trans = useTrans();
  return open ? (
    <Badge
      kind="warning"
      title={trans.__('It can send data to other computers.')}
    >
      {trans.__('network')}
    </Badge>
  ) : (
    <Badge kind="good" title={trans.__('It cannot reach other computers.')}>
      {trans.__('no network')}
    </Badge>
  );
}

/** The code or command the call would act with, and its arguments. */
function Exactly({ approval }: { approval: ApprovalView }): React.JSX.Element {
  const trans = useTrans();
  const { preview, language } = approval;
  if (preview === null) {
    return <Arguments values={approval.arguments} />;
  }
  return (
    <>
      {language === 'diff' ? (
        <DiffText text={preview} />
      ) : (
        <Code code={visible(preview)} language={language ?? ''} />
      )}
      <Disclosure
        className="shoulders-Approval-arguments"
        summary={trans.__('Exact arguments')}
      >
        {() => <Arguments values={approval.arguments} />}
      </Disclosure>
    </>
  );
}

function Decision({ call, approval }: IApprovalProps): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = usePlace();
  const { busy, error, late, run } = useAnswer();
  const [denying, setDenying] = React.useState(false);
  const answer = (body: AnswerApproval): void => {
    // A disabled button would lose the focus, so a second click is passed over instead.
    if (!busy && !late) {
      const { call_id } = call;
      run(() => conversations.commands.answerApproval(tab, call_id, body));
    }
  };
  const wider = approval.scopes.filter(scope => scope !== 'once');
  return (
    <>
      <div className="shoulders-Actions">
        <Button
          kind="primary"
          onClick={() => answer({ decision: 'allow', scope: 'once' })}
        >
          {trans.__('Allow once')}
        </Button>
        {wider.length > 0 && (
          <Menu
            label={trans.__('Allow…')}
            className="shoulders-Button"
            items={wider.map(scope => ({
              key: scope,
              title: scopeName(scope, approval, trans),
              ...reachNote(approval, scope, trans),
              act: () => answer({ decision: 'allow', scope })
            }))}
          />
        )}
        <span className="shoulders-Actions-space" />
        <Button onClick={() => setDenying(!denying)}>{trans.__('Deny')}</Button>
      </div>
      {denying && (
        <Denial
          onDeny={feedback => answer({ decision: 'deny', feedback })}
          onBack={() => setDenying(false)}
        />
      )}
      {late && (
        <p className="shoulders-Card-remark" role="status">
          {trans.__('This was answered already.')}
        </p>
      )}
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}

function Denial(props: {
  onDeny: (feedback: string | null) => void;
  onBack: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const [feedback, setFeedback] = React.useState('');
  const deny = (): void => props.onDeny(feedback.trim() || null);
  return (
    <form
      className="shoulders-Denial"
      ref={useFocusKept<HTMLFormElement>()}
      onSubmit={event => {
        event.preventDefault();
        deny();
      }}
      onKeyDown={event => {
        if (event.key === 'Escape' && !event.nativeEvent.isComposing) {
          event.stopPropagation();
          props.onBack();
        }
      }}
    >
      <input
        className="shoulders-Input"
        // The user has just asked for this field.
        autoFocus
        value={feedback}
        placeholder={trans.__('What to do instead (optional)')}
        aria-label={trans.__('What to do instead (optional)')}
        onChange={event => setFeedback(event.target.value)}
      />
      <Button onClick={deny}>{trans.__('Deny')}</Button>
    </form>
  );
}

/** A reason may come as a few words. */
function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}

function scopeName(
  scope: ApprovalScope,
  approval: ApprovalView,
  trans: TranslationBundle
): string {
  switch (scope) {
    case 'once':
      return trans.__('Once');
    case 'document':
      return isNotebook(approval.arguments.path)
        ? trans.__('For this notebook')
        : trans.__('For this file');
    case 'session':
      return trans.__('In this conversation');
    case 'always':
      return trans.__('Always');
  }
}

/** Characters of a command in a menu; its title has the rest. */
const LONGEST_COMMAND = 100;

/** What an answer allows, for a menu. */
function reachNote(
  approval: ApprovalView,
  scope: ApprovalScope,
  trans: TranslationBundle
): { note: string; fullNote: string } {
  const reach = reachOf(scope, approval.arguments, approval.reach);
  const fullNote = reachName(reach, trans);
  if (reach.kind !== 'command' || reach.of.length <= LONGEST_COMMAND) {
    return { note: fullNote, fullNote };
  }
  const of = `${reach.of.slice(0, LONGEST_COMMAND)}…`;
  return { note: reachName({ ...reach, of }, trans), fullNote };
}

/** What is allowed from then on without asking. */
function reachName(reach: Reach, trans: TranslationBundle): string {
  switch (reach.kind) {
    case 'once':
      return trans.__('This call alone');
    case 'tool':
      return trans.__('Every call of this tool');
    case 'path':
      return trans.__('This tool, on %1', visible(reach.of));
    case 'command':
      return reach.exact
        ? trans.__('Only this command: %1', visible(reach.of))
        : trans.__(
            'Commands that begin with “%1” and only read',
            visible(reach.of)
          );
    case 'domain':
      return trans.__('This tool, at %1', visible(reach.of));
  }
}
