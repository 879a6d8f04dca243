/** Asks whether a call may run: what it is, its effects, and the answers. */

import * as React from 'react';

import { isSevere } from '../../model/view-models/approvals';
import { serverText } from '../../text/serverMessages';
import { visible } from '../../text/hiddenCharacters';
import type { ApprovalView, CallView } from '../../wire/generated';
import { ApprovalActions } from './ApprovalActions';
import { effectName } from './approvalLabels';
import { Arguments } from './CallDetail';
import { CallHead } from './CallRow';
import { Code } from '../../ui/viewers/CodeBlock';
import { DiffText } from '../../ui/viewers/Diff';
import { Badge, Disclosure } from '../../ui/primitives';
import { useRestoreFocus, useTrans } from '../../ui/hooks';

interface IApprovalProps {
  call: CallView;
  approval: ApprovalView;
}

export function ApprovalCard({
  call,
  approval
}: IApprovalProps): React.JSX.Element {
  const title = React.useId();
  const effects = React.useId();
  const card = useRestoreFocus<HTMLElement>();
  return (
    <section
      className="shoulders-Card shoulders-Approval"
      aria-labelledby={title}
      aria-describedby={effects}
      ref={card}
    >
      <CallHead call={call} id={title} />
      <ExactAction approval={approval} />
      <div className="shoulders-Approval-effects" id={effects}>
        <Effects effects={approval.effects} />
        {call.external && <ExternalBadge />}
        <Confinement approval={approval} />
      </div>
      {/* Reasons that always ask in this mode are in the details. */}
      {approval.reason.kind !== 'mode' && <Reason approval={approval} />}
      <ApprovalActions call={call} approval={approval} />
      <Details approval={approval} />
    </section>
  );
}

/** Effects found by code analysis, as a hint. */
function Effects(props: {
  effects: ApprovalView['effects'];
}): React.JSX.Element | null {
  const trans = useTrans();
  // Missing in logs of earlier versions and for calls that run no code.
  if (!props.effects) {
    return null;
  }
  return props.effects.length === 0 ? (
    <span className="shoulders-Approval-effect">
      {trans.__('No files, network or shell seen')}
    </span>
  ) : (
    <>
      {props.effects.map(effect => (
        <span
          key={effect}
          className={`shoulders-Approval-effect ${isSevere(effect) ? 'shoulders-mod-grave' : ''}`}
        >
          {effectName(effect, trans)}
        </span>
      ))}
    </>
  );
}

function Confinement(props: {
  approval: ApprovalView;
}): React.JSX.Element | null {
  const { sandboxed, network, read_only } = props.approval;
  return typeof sandboxed === 'boolean' ? (
    <>
      <SandboxBadge sandboxed={sandboxed} isReadOnly={read_only === true} />
      {/* Missing in logs of earlier versions. */}
      {typeof network === 'boolean' && <NetworkBadge open={network} />}
    </>
  ) : null;
}

function Reason({ approval }: { approval: ApprovalView }): React.JSX.Element {
  const trans = useTrans();
  return (
    <p className="shoulders-Card-remark">
      {visible(sentence(serverText(trans, approval.reason.text)))}
    </p>
  );
}

/** The reason, the last duration, and the arguments. */
function Details({ approval }: { approval: ApprovalView }): React.JSX.Element {
  const trans = useTrans();
  return (
    <Disclosure
      className="shoulders-Approval-arguments"
      summary={trans.__('Details')}
    >
      {() => (
        <>
          {approval.reason.kind === 'mode' && <Reason approval={approval} />}
          <Arguments values={approval.arguments} />
        </>
      )}
    </Disclosure>
  );
}

/** Marks calls that send data off this computer. */
function ExternalBadge(): React.JSX.Element {
  const trans = useTrans();
  return (
    <Badge
      kind="warning"
      title={trans.__('Sends data to a service outside this computer.')}
    >
      {trans.__('external')}
    </Badge>
  );
}

/** Whether a command runs in a sandbox. */
function SandboxBadge(props: {
  sandboxed: boolean;
  isReadOnly: boolean;
}): React.JSX.Element {
  const trans = useTrans();
  if (!props.sandboxed) {
    return (
      <Badge
        kind="warning"
        title={trans.__('Runs with your full permissions on this computer.')}
      >
        {trans.__('not sandboxed')}
      </Badge>
    );
  }
  return props.isReadOnly ? (
    <Badge
      kind="good"
      title={trans.__('Cannot change the workspace or read keys.')}
    >
      {trans.__('sandboxed, read-only')}
    </Badge>
  ) : (
    <Badge
      kind="good"
      title={trans.__('Cannot write outside the workspace or read keys.')}
    >
      {trans.__('sandboxed')}
    </Badge>
  );
}

/** Whether a sandboxed command may use the network. */
function NetworkBadge({ open }: { open: boolean }): React.JSX.Element {
  const trans = useTrans();
  return open ? (
    <Badge kind="warning" title={trans.__('Can send data to other computers.')}>
      {trans.__('network')}
    </Badge>
  ) : (
    <Badge kind="good" title={trans.__('Cannot reach other computers.')}>
      {trans.__('no network')}
    </Badge>
  );
}

/** The code, command or difference of the call; else its arguments. */
function ExactAction({
  approval
}: {
  approval: ApprovalView;
}): React.JSX.Element {
  const { preview, language } = approval;
  if (preview === null) {
    return <Arguments values={approval.arguments} />;
  }
  return language === 'diff' ? (
    <DiffText text={preview} />
  ) : (
    <Code code={visible(preview)} language={language ?? ''} />
  );
}

/** Formats a reason, which may be a few words, as a sentence. */
function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}
