/** After a failure: the countdown to the next attempt, and the retry button. */

import * as React from 'react';

import { serverText } from '../../text/serverMessages';
import { visible } from '../../text/hiddenCharacters';
import type { MessageView, TurnView } from '../../wire/generated';
import { Button } from '../../ui/primitives';
import { useHost, useNow, useTabContext, useTrans } from '../../ui/hooks';

/** The error and the time to the next attempt, at the end of a waiting conversation. */
export function RetryStatus({
  turn
}: {
  turn: TurnView | null;
}): React.JSX.Element | null {
  return turn?.retry ? (
    <Countdown key={turn.retry.attempt} retry={turn.retry} />
  ) : null;
}

function Countdown(props: {
  retry: NonNullable<TurnView['retry']>;
}): React.JSX.Element {
  const { Icon } = useHost();
  const trans = useTrans();
  const { attempt, delay_ms, reason, at } = props.retry;
  const now = useNow(true, 500);
  const [begun] = React.useState(() => Date.now());
  // The clocks of page and server may differ; never wait longer than announced.
  const until = Math.min(Date.parse(at), begun) + delay_ms;
  const seconds = Math.max(0, Math.ceil((until - now) / 1000));
  return (
    <div className="shoulders-Error shoulders-Retrying">
      <Icon name="retry" />
      <div className="shoulders-Error-text">
        <div>{visible(serverText(trans, reason))}</div>
        <div className="shoulders-Error-hint">
          {/* Visible, but not announced every second. */}
          <span
            className="shoulders-Retrying-count"
            aria-live="off"
            role="timer"
          >
            {seconds > 0
              ? trans._n(
                  'Trying again in %1 second (attempt %2)',
                  'Trying again in %1 seconds (attempt %2)',
                  seconds,
                  attempt + 1
                )
              : trans.__('Trying again now (attempt %1)', attempt + 1)}
          </span>
        </div>
      </div>
    </div>
  );
}

/**
 * Repeats the last request. A turn that only failed is replaced: the message is sent again, and the failure remains as
 * its earlier version. Other turns continue.
 */
export function TryAgain(): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const again = (): void => {
    const asked = unansweredMessage(
      conversations.store(tab)?.view.messages ?? []
    );
    void conversations.send(
      tab,
      asked === null
        ? { text: trans.__('Please try again.') }
        : {
            text: asked.text,
            attachments: asked.attachments,
            context: asked.context,
            replaces: asked.message_id
          }
    );
  };
  return <Button onClick={again}>{trans.__('Try again')}</Button>;
}

/** The last user message if nothing followed it but failure; else null. */
export function unansweredMessage(
  messages: readonly MessageView[]
): Extract<MessageView, { role: 'user' }> | null {
  const [asked, answer] = messages.slice(-2);
  const did =
    answer?.role === 'agent' &&
    answer.parts.some(({ type }) => ACTIONS.has(type));
  return asked?.role === 'user' && answer?.role === 'agent' && !did
    ? asked
    : null;
}

const ACTIONS = new Set(['call', 'proposal', 'artifact', 'clarify', 'restore']);
