/** The messages of a conversation; the list follows new text while the user is at its end. */

import * as React from 'react';

import {
  isAwaitingResponse,
  isAbandoned
} from '../../model/view-models/conversationItems';
import type { IPendingMessage } from '../../model/sessions/outbox';
import type { Conversation, MessageView } from '../../wire/generated';
import { AgentMessage } from './AgentMessage';
import { AwayReportCard } from '../cards/AwayReportCard';
import { InterruptedCard } from '../cards/PauseCard';
import { PagedList } from '../../ui/paged-list/PagedList';
import { useStickToEnd } from '../../ui/paged-list/useStickToEnd';
import { moveMessage } from '../../ui/messageNavigation';
import { Dots, IconButton, Button, ErrorNote } from '../../ui/primitives';
import { RetryStatus } from './RetryStatus';
import { useTrans, useTabContext } from '../../ui/hooks';
import { useMessageTarget } from './useMessageTarget';
import { UserMessage, UserBubble } from './UserMessage';

export function MessageList(props: {
  view: Conversation;
  outbox: readonly IPendingMessage[];
}): React.JSX.Element {
  const trans = useTrans();
  const { view, outbox } = props;
  const { scroller, content, isAway, toEnd } = useStickToEnd(outbox.length);
  useMessageTarget(scroller, view.messages);
  return (
    <div className="shoulders-Messages">
      <div
        className="shoulders-Messages-scroller"
        ref={scroller}
        role="log"
        aria-live="polite"
        aria-label={trans.__('Conversation')}
        tabIndex={0}
        onKeyDown={event => {
          if (moveMessage(event.currentTarget, event.key)) {
            event.preventDefault();
          }
        }}
      >
        <div className="shoulders-Messages-content" ref={content}>
          <PagedList
            items={view.messages}
            scroller={scroller}
            render={renderMessage}
          />
          {isAwaitingResponse(view) && !view.turn?.retry && <Dots />}
          <RetryStatus turn={view.turn} />
          {view.turn?.state === 'interrupted' && !isAbandoned(view) && (
            <InterruptedCard />
          )}
          <AwayReportCard view={view} />
          {outbox.map(item => (
            <PendingMessage key={item.body.id} item={item} />
          ))}
        </div>
      </div>
      {isAway && (
        <IconButton
          className="shoulders-Messages-end"
          icon="caret-down"
          label={trans.__('Scroll to the newest message')}
          onClick={toEnd}
        />
      )}
    </div>
  );
}

function renderMessage(message: MessageView, last: boolean): React.JSX.Element {
  return <Message key={message.seq} message={message} last={last} />;
}

const Message = React.memo(function Message(props: {
  message: MessageView;
  last: boolean;
}): React.JSX.Element {
  const { message } = props;
  return (
    <div
      className={`shoulders-Message shoulders-mod-${message.role}`}
      data-seq={message.seq}
      tabIndex={-1}
    >
      {message.role === 'user' ? (
        <UserMessage message={message} />
      ) : (
        <AgentMessage message={message} last={props.last} />
      )}
    </div>
  );
});

function PendingMessage({
  item
}: {
  item: IPendingMessage;
}): React.JSX.Element {
  const trans = useTrans();
  const { conversations, tab } = useTabContext();
  const { body, error } = item;
  return (
    <div className="shoulders-Message shoulders-mod-user">
      <UserBubble
        text={body.text}
        attachments={body.attachments ?? []}
        context={body.context ?? null}
        className={error === null ? 'shoulders-mod-sending' : ''}
      />
      {error !== null && (
        <ErrorNote error={error}>
          <Button
            kind="primary"
            onClick={() => void conversations.retrySend(tab, body.id)}
          >
            {trans.__('Send again')}
          </Button>
          <Button onClick={() => conversations.discard(tab, body.id)}>
            {trans.__('Discard')}
          </Button>
        </ErrorNote>
      )}
    </div>
  );
}
