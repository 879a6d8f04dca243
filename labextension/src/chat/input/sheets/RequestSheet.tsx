/** The exact request for the message being written, and for each step of the last turn. */

import * as React from 'react';

import { formatTokens } from '../../../text/numberFormat';
import type {
  Conversation,
  PreviewMessage,
  RequestView
} from '../../../wire/generated';
import { Dots, ErrorNote } from '../../../ui/primitives';
import { useHost, useTabContext, useTrans } from '../../../ui/hooks';
import { RequestBody } from '../../../ui/viewers/RequestBody';
import { Sheet } from './Sheet';
import {
  useServerAnswer,
  type IServerAnswer
} from '../../../ui/useServerAnswer';

/** The step of the message being written; other steps count from 1. */
const NEXT = 0;

export function RequestSheet(props: {
  view: Conversation | null;
  /** The message as it would be sent. */
  message: PreviewMessage;
  onClose: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const [step, setStep] = React.useState(NEXT);
  const { turnId, steps } = lastTurn(props.view);
  const wanted = step <= steps ? step : NEXT;
  const message = withPlaceholder(props.message, trans.__('(your message)'));
  const { answer, error } = useRequest(message, turnId, wanted);
  return (
    <Sheet
      icon="eye"
      title={trans.__('What is sent to the model')}
      onClose={props.onClose}
    >
      <select
        className="shoulders-Input shoulders-Request-which"
        aria-label={trans.__('Request')}
        value={wanted}
        onChange={event => setStep(Number(event.target.value))}
      >
        <option value={NEXT}>{trans.__('Next message, as drafted')}</option>
        {Array.from({ length: steps }, (_, index) => (
          <option key={index} value={index + 1}>
            {trans.__('Sent: step %1 of the last turn', index + 1)}
          </option>
        ))}
      </select>
      {error !== null && <ErrorNote error={error} />}
      {answer === null && error === null && <Dots />}
      {answer !== null && <Request request={answer} />}
    </Sheet>
  );
}

/** The request of a step, or of the message. */
function useRequest(
  message: PreviewMessage,
  turnId: string | null,
  step: number
): IServerAnswer<RequestView> {
  const { lookups } = useHost();
  const { conversations, tab } = useTabContext();
  const sent = step === NEXT ? null : turnId;
  const key = sent === null ? JSON.stringify(message) : `${sent} ${step}`;
  return useServerAnswer(key, async () => {
    const session = await conversations.ensureSession(tab);
    return sent === null
      ? lookups.preview(session, message)
      : lookups.sent(session, sent, step);
  });
}

/** The last turn and its number of steps. */
function lastTurn(view: Conversation | null): {
  turnId: string | null;
  steps: number;
} {
  const turn = view?.turn ?? null;
  return turn?.turn_id === null || turn === null
    ? { turnId: null, steps: 0 }
    : { turnId: turn.turn_id, steps: turn.step };
}

function Request({ request }: { request: RequestView }): React.JSX.Element {
  const trans = useTrans();
  const { model, tokens, window, replaces } = request;
  return (
    <>
      <p className="shoulders-Sheet-note">
        {trans.__(
          '%1 · about %2 of %3 tokens · keys removed',
          model,
          formatTokens(tokens),
          window === null ? '?' : formatTokens(window)
        )}
      </p>
      {replaces !== null && (
        <p className="shoulders-Sheet-note">
          {trans.__(
            'Too long: messages %1 to %2 will be summarised before sending.',
            replaces.start + 1,
            replaces.end
          )}
        </p>
      )}
      <RequestBody request={request} />
    </>
  );
}

/** The message with a placeholder text if empty, since an empty one has no preview. */
function withPlaceholder(
  message: PreviewMessage,
  words: string
): PreviewMessage {
  const blank =
    message.text.trim() === '' && (message.attachments ?? []).length === 0;
  return blank ? { ...message, text: words } : message;
}
