/** All that the agent said and did between two messages of the user, without a label: its shape tells who speaks. */

import * as React from 'react';

import { COMPACTION_ASK, presentParts, type Item } from '../model/present';
import type {
  AgentView,
  NoticeView,
  PartView,
  ReasoningView
} from '../wire/generated';
import { ArtifactCard } from './ArtifactCard';
import { CallLine, ReadsLine } from './CallLine';
import { CompactionCard } from './CompactionCard';
import { Guarded } from './Guarded';
import { InputCard } from './InputCard';
import { Markdown } from './markdown/Markdown';
import { End, Notice } from './Outcome';
import { Disclosure, ErrorNote } from './parts';
import { PauseCard } from './PauseCard';
import { ProposalCard } from './ProposalCard';
import { QuestionCard } from './QuestionCard';
import { RestoreLine } from './RestoreLine';
import { TurnFooter } from './TurnFooter';
import { useHost, useTrans, useWaits } from './use';

export const AgentMessage = React.memo(function AgentMessage(props: {
  message: AgentView;
  last: boolean;
}): React.JSX.Element {
  const { parts } = props.message;
  const growing = parts.some(part => 'open' in part && part.open);
  return (
    <div className="shoulders-Agent" aria-busy={growing}>
      {presentParts(props.message).map(item => (
        <Guarded key={item.key}>
          <Shown item={item} last={props.last} />
        </Guarded>
      ))}
      <TurnFooter message={props.message} />
    </div>
  );
});

function Shown(props: { item: Item; last: boolean }): React.JSX.Element | null {
  const { item, last } = props;
  return item.kind === 'reads' ? (
    <ReadsLine calls={item.calls} />
  ) : (
    <Part part={item.part} last={last} />
  );
}

const Part = React.memo(function Part(props: {
  part: PartView;
  last: boolean;
}): React.JSX.Element | null {
  const { part, last } = props;
  switch (part.type) {
    case 'text':
      return <Markdown text={part.text} />;
    case 'reasoning':
      return <Reasoning part={part} />;
    case 'call':
      return <CallLine call={part} />;
    case 'proposal':
      return <ProposalCard proposal={part.proposal} />;
    case 'notice':
      return <Remark notice={part} />;
    case 'restore':
      return <RestoreLine restore={part} />;
    case 'error':
      return <ErrorNote error={part.error} />;
    case 'end':
      return <End end={part} last={last} />;
    case 'artifact':
      return <ArtifactCard artifact={part} />;
    case 'clarify':
      return <QuestionCard question={part} />;
    case 'stdin':
      return <InputCard input={part} />;
  }
});

/** The model's reasoning, out of the way. */
function Reasoning({ part }: { part: ReasoningView }): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  return (
    <Disclosure
      className="shoulders-Call shoulders-Reasoning"
      summary={
        <>
          <Icon name="spark" />
          <span className="shoulders-Call-title">
            {part.open ? trans.__('Thinking…') : trans.__('Thought process')}
          </span>
          {part.open && <span className="shoulders-Pulse" />}
        </>
      }
    >
      {() => (
        <div className="shoulders-Reasoning-text">
          <Markdown text={part.text} />
        </div>
      )}
    </Disclosure>
  );
}

/** A remark; the card where the turn stands at the limit it tells of. */
function Remark({ notice }: { notice: NoticeView }): React.JSX.Element {
  const { pause } = useWaits();
  if (pause !== notice) {
    return <Notice notice={notice} />;
  }
  return notice.code === COMPACTION_ASK ? (
    <CompactionCard notice={notice} />
  ) : (
    <PauseCard notice={notice} />
  );
}
