/** The agent's texts and calls between two user messages. */

import * as React from 'react';

import {
  COMPACTION_ASK,
  presentParts,
  withReasoning,
  type Section
} from '../../model/view-models/conversationItems';
import type {
  AgentView,
  NoticeView,
  PartView,
  ReasoningView,
  TextView
} from '../../wire/generated';
import { ArtifactCard } from '../cards/ArtifactCard';
import { CitationsContext } from '../markdown/CitationChip';
import { CitedSources } from './CitedSources';
import { ActivityLine } from '../agents/ActivityLine';
import { CallLine, ReadsLine } from '../tool-calls/CallLine';
import { CompactionCard, PauseCard } from '../cards/PauseCard';
import { ErrorBoundary } from '../../ui/ErrorBoundary';
import { InputCard } from '../cards/InputCard';
import { Markdown } from '../markdown/Markdown';
import { ReferenceTargetsContext } from '../markdown/useReferenceLinks';
import { AnswerActions } from './MessageActions';
import { TurnEnd, Notice } from './TurnEnd';
import { Disclosure, ErrorNote } from '../../ui/primitives';
import { ProposalCard } from '../cards/ProposalCard';
import { QuestionCard } from '../cards/QuestionCard';
import { RestoreLine } from './RestoreLine';
import { Sources } from './Sources';
import { TurnFooter } from './TurnFooter';
import { shownText, useCitations } from './useCitations';
import { useHost, useTrans, usePendingInput } from '../../ui/hooks';
import { useReferenceTargets } from './useReferenceTargets';

export const AgentMessage = React.memo(function AgentMessage(props: {
  message: AgentView;
  last: boolean;
}): React.JSX.Element {
  const { message, last } = props;
  const growing = message.parts.some(part => 'open' in part && part.open);
  const text = growing ? '' : textOf(message);
  const referring = useReferenceTargets(message);
  const citations = useCitations(message);
  return (
    <div className="shoulders-Agent" aria-busy={growing}>
      <ReferenceTargetsContext.Provider value={referring}>
        <CitationsContext.Provider value={citations}>
          {withReasoning(presentParts(message)).map(section => (
            <ErrorBoundary key={section.key}>
              <MessageSection section={section} last={last} />
            </ErrorBoundary>
          ))}
        </CitationsContext.Provider>
      </ReferenceTargetsContext.Provider>
      {text !== '' && (
        <ErrorBoundary>
          <CitedSources citations={citations} />
          <Sources text={text} hasCitations={citations.sources.size > 0} />
        </ErrorBoundary>
      )}
      <TurnFooter message={message} last={last} />
      {!growing && <AnswerActions message={message} text={text} />}
    </div>
  );
});

/** The text of the message as written. */
function textOf({ parts }: AgentView): string {
  return parts
    .flatMap(part => (part.type === 'text' ? part.text.trim() : []))
    .filter(text => text !== '')
    .join('\n\n');
}

function MessageSection(props: {
  section: Section;
  last: boolean;
}): React.JSX.Element {
  const { section, last } = props;
  switch (section.kind) {
    case 'reads':
      return <ReadsLine calls={section.calls} />;
    case 'reasoning':
      return <Reasoning parts={section.parts} />;
    case 'part':
      return <Part part={section.part} last={last} />;
  }
}

const Part = React.memo(function Part(props: {
  part: PartView;
  last: boolean;
}): React.JSX.Element | null {
  const { part, last } = props;
  switch (part.type) {
    case 'text':
      return <AnswerText part={part} />;
    case 'reasoning':
      return <Reasoning parts={[part]} />;
    case 'call':
      return <CallLine call={part} />;
    case 'activity':
      return <ActivityLine activity={part} last={last} />;
    case 'proposal':
      return <ProposalCard proposal={part.proposal} />;
    case 'notice':
      return <Remark notice={part} />;
    case 'restore':
      return <RestoreLine restore={part} />;
    case 'error':
      return <ErrorNote error={part.error} />;
    case 'end':
      return <TurnEnd end={part} last={last} />;
    case 'artifact':
      return <ArtifactCard artifact={part} />;
    case 'clarify':
      return <QuestionCard question={part} />;
    case 'stdin':
      return <InputCard input={part} />;
  }
});

/** A text of the answer. Only such texts have citations. */
function AnswerText({ part }: { part: TextView }): React.JSX.Element {
  const citations = React.useContext(CitationsContext);
  const splitter = citations?.splitterOf(part.part_id);
  return <Markdown text={shownText(part)} splitter={splitter} />;
}

/** The model's reasoning, collapsed. */
function Reasoning(props: {
  parts: readonly ReasoningView[];
}): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  const { parts } = props;
  const open = parts.some(part => part.open);
  return (
    <Disclosure
      className="shoulders-Call shoulders-Reasoning"
      summary={
        <>
          <Icon name="spark" />
          <span className="shoulders-Call-title">
            {open ? trans.__('Thinking…') : trans.__('Thought process')}
          </span>
          {open && <span className="shoulders-Pulse" />}
        </>
      }
    >
      {() => (
        <div className="shoulders-Reasoning-text">
          {parts.map(part => (
            <Markdown key={part.part_id} text={part.text} />
          ))}
        </div>
      )}
    </Disclosure>
  );
}

/** A notice; as a card if the turn is paused at its limit. */
function Remark({ notice }: { notice: NoticeView }): React.JSX.Element {
  const { pause } = usePendingInput();
  if (pause !== notice) {
    return <Notice notice={notice} />;
  }
  return notice.code === COMPACTION_ASK ? (
    <CompactionCard notice={notice} />
  ) : (
    <PauseCard notice={notice} />
  );
}
