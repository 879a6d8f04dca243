/** Cards of a turn that waits for a decision: at a budget limit, before compaction, after a server stop. */

import * as React from 'react';

import {
  parseDollars,
  raises,
  reachedIn,
  type IReachedLimit,
  type Scope
} from '../../model/sessions/budget';
import { formatMoney } from '../../text/numberFormat';
import { legible } from '../../text/hiddenCharacters';
import type { ErrorInfo, NoticeView } from '../../wire/generated';
import { useServerAnswer } from '../../ui/useServerAnswer';
import { Button, ErrorNote } from '../../ui/primitives';
import {
  useAction,
  useRestoreFocus,
  useHost,
  useTabContext,
  useTrans
} from '../../ui/hooks';

export function PauseCard(props: { notice: NoticeView }): React.JSX.Element {
  const trans = useTrans();
  const reached = reachedIn(props.notice);
  const { scope, limit, spent } = reached;
  const ceiling = useCeiling(scope);
  return (
    <PausedTurn
      title={
        scope === 'session'
          ? trans.__('Paused at this conversation’s limit')
          : trans.__('Paused at this turn’s limit')
      }
    >
      <p className="shoulders-Card-text">
        {limit === null || spent === null
          ? legible(props.notice.text)
          : trans.__('%1 of %2 spent.', formatMoney(spent), formatMoney(limit))}
        {ceiling !== null && (
          <span className="shoulders-Pause-ceiling">
            {' '}
            {trans.__(
              'Your administrator allows up to %1.',
              formatMoney(ceiling)
            )}
          </span>
        )}
      </p>
      <LimitActions reached={reached} ceiling={ceiling} />
    </PausedTurn>
  );
}

function LimitActions(props: {
  reached: IReachedLimit;
  ceiling: number | null;
}): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { error, run, runOnce } = useAction();
  const [other, setOther] = React.useState(false);
  const resume = (limit_micro_usd: number): void => {
    const body = { decision: 'resume', limit_micro_usd } as const;
    runOnce(() => conversations.commands.resume(tab, body));
  };
  const stop = (): void =>
    run(() => conversations.commands.resume(tab, { decision: 'discard' }));
  const [first, ...more] = raises(props.reached, props.ceiling);
  return (
    <>
      <div className="shoulders-Actions">
        {first !== undefined && (
          <Button kind="primary" onClick={() => resume(first)}>
            {trans.__('Continue, up to %1', formatMoney(first))}
          </Button>
        )}
        {more.map(limit => (
          <Button key={limit} onClick={() => resume(limit)}>
            {trans.__('Up to %1', formatMoney(limit))}
          </Button>
        ))}
        {first !== undefined && (
          <Button onClick={() => setOther(!other)}>
            {trans.__('Other amount…')}
          </Button>
        )}
        <span className="shoulders-Actions-space" />
        <Button onClick={stop}>{trans.__('Stop here')}</Button>
      </div>
      {other && (
        <OtherAmount onChoose={resume} onBack={() => setOther(false)} />
      )}
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}

function OtherAmount(props: {
  onChoose: (microUsd: number) => void;
  onBack: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const [text, setText] = React.useState('');
  const amount = parseDollars(text) ?? 0;
  const choose = (): void => {
    if (amount > 0) {
      props.onChoose(amount);
    }
  };
  return (
    <form
      className="shoulders-Denial"
      ref={useRestoreFocus<HTMLFormElement>()}
      onSubmit={event => {
        event.preventDefault();
        choose();
      }}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.stopPropagation();
          props.onBack();
        }
      }}
    >
      <input
        className="shoulders-Input"
        // The user just opened this field.
        autoFocus
        inputMode="decimal"
        value={text}
        placeholder={trans.__('New limit in dollars')}
        aria-label={trans.__('New limit in dollars')}
        onChange={event => setText(event.target.value)}
      />
      <Button disabled={amount <= 0} onClick={choose}>
        {trans.__('Continue')}
      </Button>
    </form>
  );
}

/** The administrator's limit, if any. It is only shown; the server enforces it. */
function useCeiling(scope: Scope | null): number | null {
  const { conversations } = useTabContext();
  const { answer } = useServerAnswer('', () => conversations.budget.read());
  const limit = answer?.limits.find(each => each.scope === scope);
  return limit?.administrator_micro_usd ?? null;
}

/** Asks whether to summarise earlier messages of a turn that is too long for its model. */
export function CompactionCard(props: {
  notice: NoticeView;
}): React.JSX.Element {
  const trans = useTrans();
  const { decide, error } = useTurnDecision();
  return (
    <PausedTurn title={trans.__('Too long for the model')}>
      <p className="shoulders-Card-text">{legible(props.notice.text)}</p>
      <div className="shoulders-Actions">
        <Button kind="primary" onClick={() => decide('resume')}>
          {trans.__('Summarise and continue')}
        </Button>
        <span className="shoulders-Actions-space" />
        <Button onClick={() => decide('discard')}>
          {trans.__('Stop here')}
        </Button>
      </div>
      {error !== null && <ErrorNote error={error} />}
    </PausedTurn>
  );
}

/** Asks whether to resume a turn that a server stop interrupted. */
export function InterruptedCard(): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  const { decide, error } = useTurnDecision();
  return (
    <section
      className="shoulders-Card shoulders-Interrupted"
      aria-label={trans.__('Interrupted')}
      ref={useRestoreFocus<HTMLElement>()}
    >
      <header className="shoulders-Card-head">
        <Icon name="info" />
        <span>{trans.__('The server stopped before this was finished.')}</span>
      </header>
      <div className="shoulders-Actions">
        <Button kind="primary" onClick={() => decide('resume')}>
          {trans.__('Resume')}
        </Button>
        <Button onClick={() => decide('discard')}>{trans.__('Discard')}</Button>
      </div>
      {error !== null && <ErrorNote error={error} />}
    </section>
  );
}

/** The frame of a card for a paused turn. */
function PausedTurn(props: {
  title: string;
  children: React.ReactNode;
}): React.JSX.Element {
  const { Icon } = useHost();
  const title = React.useId();
  return (
    <section
      className="shoulders-Card shoulders-Pause"
      aria-labelledby={title}
      ref={useRestoreFocus<HTMLElement>()}
    >
      <header className="shoulders-Card-head" id={title}>
        <Icon name="pause" />
        <span className="shoulders-Call-title">{props.title}</span>
      </header>
      {props.children}
    </section>
  );
}

/** Resumes or discards the turn. */
function useTurnDecision(): {
  decide: (decision: 'resume' | 'discard') => void;
  error: ErrorInfo | null;
} {
  const { conversations, tab } = useTabContext();
  const { error, runOnce } = useAction();
  const decide = (decision: 'resume' | 'discard'): void => {
    runOnce(() => conversations.commands.resume(tab, { decision }));
  };
  return { decide, error };
}
