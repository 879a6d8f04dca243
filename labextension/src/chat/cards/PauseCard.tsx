/** A turn that stands at a limit of money: raise the limit and go on, or stop. */

import * as React from 'react';

import {
  parseDollars,
  raises,
  reachedIn,
  type IReached,
  type Scope
} from '../../model/sessions/budget';
import { formatMoney } from '../../text/numberFormat';
import { legible } from '../../text/hiddenCharacters';
import type { NoticeView } from '../../wire/generated';
import { Button, ErrorNote } from '../../ui/primitives';
import {
  useAction,
  useRestoreFocus,
  useHost,
  useTabContext,
  useTrans
} from '../../ui/hooks';

export function PauseCard(props: { notice: NoticeView }): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  const title = React.useId();
  const reached = reachedIn(props.notice);
  const { scope, limit, spent } = reached;
  const ceiling = useCeiling(scope);
  return (
    <section
      className="shoulders-Card shoulders-Pause"
      aria-labelledby={title}
      ref={useRestoreFocus<HTMLElement>()}
    >
      <header className="shoulders-Card-head" id={title}>
        <Icon name="pause" />
        <span className="shoulders-Call-title">
          {scope === 'session'
            ? trans.__('Paused at this conversation’s limit')
            : trans.__('Paused at this turn’s limit')}
        </span>
      </header>
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
      <Ways reached={reached} ceiling={ceiling} />
    </section>
  );
}

function Ways(props: {
  reached: IReached;
  ceiling: number | null;
}): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { busy, error, run } = useAction();
  const [other, setOther] = React.useState(false);
  const goOn = (limit_micro_usd: number): void => {
    if (!busy) {
      const body = { decision: 'resume', limit_micro_usd } as const;
      run(() => conversations.commands.resume(tab, body));
    }
  };
  const stop = (): void =>
    run(() => conversations.commands.resume(tab, { decision: 'discard' }));
  const [first, ...more] = raises(props.reached, props.ceiling);
  return (
    <>
      <div className="shoulders-Actions">
        {first !== undefined && (
          <Button kind="primary" onClick={() => goOn(first)}>
            {trans.__('Continue, up to %1', formatMoney(first))}
          </Button>
        )}
        {more.map(limit => (
          <Button key={limit} onClick={() => goOn(limit)}>
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
      {other && <OtherAmount onChoose={goOn} onBack={() => setOther(false)} />}
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
        // The user has just asked for this field.
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

/** The administrator's limit, where there is one; it is only said, the server holds to it. */
function useCeiling(scope: Scope | null): number | null {
  const { conversations } = useTabContext();
  const [ceiling, setCeiling] = React.useState<number | null>(null);
  React.useEffect(() => {
    let gone = false;
    conversations.budget.read().then(
      ({ limits }) => {
        const limit = limits.find(one => one.scope === scope);
        if (!gone) {
          setCeiling(limit?.administrator_micro_usd ?? null);
        }
      },
      () => undefined // Without it the steps are offered all the same.
    );
    return () => {
      gone = true;
    };
  }, [conversations, scope]);
  return ceiling;
}
