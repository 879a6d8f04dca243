/** A question of the agent: options, an answer in the input below, and the given answer. */

import * as React from 'react';

import { legible } from '../../text/hiddenCharacters';
import type { ClarifyView } from '../../wire/generated';
import { Markdown } from '../markdown/Markdown';
import { Button, ErrorNote } from '../../ui/primitives';
import {
  focusComposer,
  useAnswer,
  useRestoreFocus,
  useHost,
  useTabContext,
  useTrans,
  usePendingInput
} from '../../ui/hooks';

export const QuestionCard = React.memo(function QuestionCard(props: {
  question: ClarifyView;
}): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { question, answer, call_id, options } = props.question;
  const { error, late, runOnce } = useAnswer();
  const waits = usePendingInput().call === call_id && answer === null;
  const title = React.useId();
  const give = (picks: readonly string[]): void => {
    runOnce(() => conversations.commands.answerQuestion(tab, call_id, picks));
  };
  return (
    <section
      className={`shoulders-Card shoulders-Question ${waits ? 'shoulders-mod-waiting' : ''}`}
      aria-labelledby={title}
    >
      <div className="shoulders-Question-text" id={title}>
        <Icon name="question" />
        <Markdown text={question} />
      </div>
      {waits ? (
        <Choices
          options={options}
          multiple={props.question.allow_multiple}
          label={title}
          onAnswer={give}
        />
      ) : (
        <Answered answer={answer} />
      )}
      {late && (
        <p className="shoulders-Card-remark" role="status">
          {trans.__('This question has already been answered.')}
        </p>
      )}
      {error !== null && <ErrorNote error={error} />}
    </section>
  );
});

function Choices(props: {
  options: readonly string[];
  multiple: boolean;
  label: string;
  onAnswer: (picks: readonly string[]) => void;
}): React.JSX.Element {
  const trans = useTrans();
  const { options, multiple, onAnswer } = props;
  const [picks, setPicks] = React.useState<ReadonlySet<string>>(new Set());
  const toggle = (option: string): void => {
    const next = new Set(picks);
    if (!next.delete(option)) {
      next.add(option);
    }
    setPicks(next);
  };
  return (
    <div ref={useRestoreFocus<HTMLDivElement>()}>
      {options.length > 0 && (
        <div
          className="shoulders-Options"
          role="group"
          aria-labelledby={props.label}
        >
          {options.map(option => (
            <button
              key={option}
              type="button"
              className="shoulders-Option"
              aria-pressed={multiple ? picks.has(option) : undefined}
              onClick={() => (multiple ? toggle(option) : onAnswer([option]))}
            >
              {legible(option)}
            </button>
          ))}
        </div>
      )}
      <div className="shoulders-Actions">
        {multiple && (
          <Button
            kind="primary"
            disabled={picks.size === 0}
            // In the order offered, not clicked.
            onClick={() => onAnswer(options.filter(one => picks.has(one)))}
          >
            {trans.__('Send')}
          </Button>
        )}
        <button
          type="button"
          className="shoulders-Link shoulders-Question-free"
          onClick={focusComposer}
        >
          {options.length === 0
            ? trans.__('Write your answer below')
            : trans.__('Or write an answer below')}
        </button>
      </div>
    </div>
  );
}

function Answered(props: {
  answer: readonly string[] | null;
}): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  const { answer } = props;
  return answer === null ? (
    <p className="shoulders-Card-remark">{trans.__('Not answered')}</p>
  ) : (
    <p
      className="shoulders-Question-answer"
      aria-label={trans.__('Your answer')}
    >
      <Icon name="check" />
      <span>{legible(answer.join(', '))}</span>
    </p>
  );
}
