/** Below the line of a sub-agent's call: its state, cost, summary, and the way to its conversation. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import {
  subAgentProgress,
  subAgentReport,
  type ISubAgentReport
} from '../../model/view-models/subAgents';
import { visible } from '../../text/hiddenCharacters';
import { formatMoney } from '../../text/numberFormat';
import { serverText } from '../../text/serverMessages';
import type { CallView, Session } from '../../wire/generated';
import { Markdown } from '../markdown/Markdown';
import { Disclosure } from '../../ui/primitives';
import { useSignalVersion, useTabContext, useTrans } from '../../ui/hooks';

export function SubAgentLine({ call }: { call: CallView }): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { history } = conversations;
  useSignalVersion(history.changed);
  const report = React.useMemo(() => subAgentReport(call), [call]);
  const child = history.subAgent(
    conversations.session(tab)?.id ?? null,
    call.call_id
  );
  const isUnknown = child === null && call.state === 'running';
  React.useEffect(() => {
    if (isUnknown) {
      void history.readSubAgents();
    }
  }, [isUnknown, history]);
  return (
    <div className="shoulders-SubAgent">
      <div className="shoulders-SubAgent-state">
        <span role="status">{stateOf(call, child, report, trans)}</span>
        <ConversationLink id={child?.id ?? report?.conversation ?? null} />
      </div>
      {report !== null && report.summary !== '' && (
        <Disclosure
          className="shoulders-SubAgent-summary"
          summary={trans.__('Summary')}
        >
          {() => <Markdown text={visible(report.summary)} />}
        </Disclosure>
      )}
    </div>
  );
}

function ConversationLink(props: {
  id: string | null;
}): React.JSX.Element | null {
  const trans = useTrans();
  const { conversations } = useTabContext();
  const { id } = props;
  return id === null ? null : (
    <button
      type="button"
      className="shoulders-Link"
      onClick={() => conversations.open(id)}
    >
      {trans.__('Open conversation')}
    </button>
  );
}

/** State and cost in a few words. */
function stateOf(
  call: CallView,
  child: Session | null,
  report: ISubAgentReport | null,
  trans: TranslationBundle
): string {
  const facts = [
    call.state === 'running' ? working(call, child, trans) : '',
    ...(report === null
      ? [costOf(child?.cost_micro_usd ?? null)]
      : reportFacts(report, trans))
  ];
  return facts.filter(fact => fact !== '').join(' · ');
}

function reportFacts(
  { steps, cost, missing }: ISubAgentReport,
  trans: TranslationBundle
): string[] {
  return [
    trans._n('one step', '%1 steps', steps, steps),
    costOf(cost),
    missing === 0
      ? ''
      : trans._n(
          'one cited place does not exist',
          '%1 cited places do not exist',
          missing,
          missing
        )
  ];
}

/** Nothing for what is free or unknown. */
function costOf(cost: number | null): string {
  return cost === null || cost === 0 ? '' : formatMoney(cost);
}

function working(
  call: CallView,
  child: Session | null,
  trans: TranslationBundle
): string {
  if (child?.status === 'waiting') {
    return trans.__('Waiting for you');
  }
  const said = subAgentProgress(call);
  return said === '' ? trans.__('Starting…') : visible(serverText(trans, said));
}
