/** After a failure: the wait before the model is asked again, counted down, and the button that asks it anew. */

import * as React from 'react';

import { serverText } from '../../text/serverMessages';
import { visible } from '../../text/hiddenCharacters';
import type { MessageView, TurnView } from '../../wire/generated';
import { Button } from '../../ui/primitives';
import { useHost, useNow, useTabContext, useTrans } from '../../ui/hooks';

/** What went wrong and how long until the next try; at the end of the conversation while a turn waits. */
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
  // The clocks of page and server may differ: the wait is never longer than it was said to be.
  const until = Math.min(Date.parse(at), begun) + delay_ms;
  const seconds = Math.max(0, Math.ceil((until - now) / 1000));
  return (
    <div className="shoulders-Error shoulders-Retrying">
      <Icon name="retry" />
      <div className="shoulders-Error-text">
        <div>{visible(serverText(trans, reason))}</div>
        <div className="shoulders-Error-hint">
          {/* Seen, not read out every second. */}
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
 * Asks for the same again. A turn that did nothing but fail is replaced: the message is sent anew, and the failure stays
 * as its earlier version. One that has done something goes on.
 */
export function TryAgain(): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const again = (): void => {
    const asked = isFruitlessRetry(
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

/** The last message of the user when nothing was done about it; null when something was. */
export function isFruitlessRetry(
  messages: readonly MessageView[]
): Extract<MessageView, { role: 'user' }> | null {
  const [asked, answer] = messages.slice(-2);
  const did =
    answer?.role === 'agent' &&
    answer.parts.some(({ type }) => DEEDS.has(type));
  return asked?.role === 'user' && answer?.role === 'agent' && !did
    ? asked
    : null;
}

const DEEDS = new Set(['call', 'proposal', 'artifact', 'clarify', 'restore']);
