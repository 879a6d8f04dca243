/** A tool call as one line that expands to its exact input and output. */

import * as React from 'react';

import { readPhrases, readTargets } from '../../model/view-models/groupedReads';
import { DELEGATE } from '../../model/view-models/subAgents';
import { papersOf } from '../../model/view-models/webSources';
import { visible } from '../../text/hiddenCharacters';
import type { CallView } from '../../wire/generated';
import { ApprovalCard } from './ApprovalCard';
import { CallDetail } from './CallDetail';
import { CallRow } from './CallRow';
import { Disclosure } from '../../ui/primitives';
import { PapersCard } from './PapersCard';
import { RunPreview } from './RunPreview';
import { SubAgentLine } from './SubAgentLine';
import { ToolResultForm } from './ToolResultForm';
import { useHost, useTrans, usePendingInput } from '../../ui/hooks';

/** One call; a card while it waits for approval. */
export const CallLine = React.memo(function CallLine(props: {
  call: CallView;
}): React.JSX.Element {
  const { call } = props;
  const note = useNote(call);
  const [open, setOpen] = React.useState(false);
  const { results } = usePendingInput();
  const works = papersOf(call);
  if (results && call.state === 'proposed' && call.invalid === null) {
    return <ToolResultForm call={call} />;
  }
  if (call.state === 'waiting' && call.approval !== null) {
    return <ApprovalCard call={call} approval={call.approval} />;
  }
  return (
    <div
      className={`shoulders-Call shoulders-mod-${isStale(call) ? 'skipped' : call.state}`}
    >
      <CallRow
        call={call}
        note={note}
        open={open}
        onToggle={() => setOpen(!open)}
      />
      {open ? <CallDetail call={call} /> : <RunPreview call={call} />}
      {works !== null && <PapersCard works={works} />}
      {call.tool === DELEGATE && <SubAgentLine call={call} />}
    </div>
  );
});

/** Whether an edit conflicted with the user's changes; then a card asks, and nothing failed. */
function isStale({ result }: CallView): boolean {
  return result?.error?.code === 'stale';
}

/** The note at the end of the line; none on success. */
function useNote(call: CallView): string {
  const trans = useTrans();
  switch (call.state) {
    case 'error':
      return isStale(call) ? trans.__('not applied') : trans.__('failed');
    case 'denied':
      return trans.__('denied');
    case 'skipped':
      return trans.__('skipped');
    case 'cancelled':
      return trans.__('stopped');
    case 'unknown':
      return trans.__('outcome unknown');
    case 'ok':
    case 'proposed':
    case 'waiting':
    case 'running':
      return '';
  }
}

/** Consecutive read calls as one line. */
export const ReadsLine = React.memo(function ReadsLine(props: {
  calls: readonly CallView[];
}): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  const { calls } = props;
  const [only] = calls;
  if (calls.length === 1 && only !== undefined) {
    return <CallLine call={only} />;
  }
  return (
    <Disclosure
      className="shoulders-Call shoulders-mod-ok"
      summary={
        <>
          <Icon name="eye" />
          <span className="shoulders-Call-title">
            {readPhrases(calls, trans).join(' · ')}
          </span>
          <span className="shoulders-Call-target">
            {visible(readTargets(calls).join(', '))}
          </span>
        </>
      }
    >
      {() => (
        <div className="shoulders-Calls">
          {calls.map(call => (
            <CallLine key={call.call_id} call={call} />
          ))}
        </div>
      )}
    </Disclosure>
  );
});
