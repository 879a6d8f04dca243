/** The conversation's messages, in a list that follows the newest text while the user is at its end. */

import * as React from 'react';

import { isAwaitingFirst } from '../model/present';
import type { IOutgoing } from '../model/outbox';
import type { Conversation, MessageView } from '../wire/generated';
import { AgentMessage } from './AgentMessage';
import { InterruptedCard } from './InterruptedCard';
import { Outgoing } from './Outgoing';
import { Dots, IconButton } from './parts';
import { useTrans } from './use';
import { UserBubble } from './UserBubble';

/** How near the end counts as being there, in px. */
const NEAR = 32;

export function MessageList(props: {
  view: Conversation;
  outbox: readonly IOutgoing[];
}): React.JSX.Element {
  const trans = useTrans();
  const { view, outbox } = props;
  const { scroller, content, away, toEnd } = useFollow(outbox.length);
  return (
    <div className="shoulders-Messages">
      <div
        className="shoulders-Messages-scroller"
        ref={scroller}
        role="log"
        aria-live="polite"
        aria-label={trans.__('Conversation')}
        tabIndex={0}
      >
        <div className="shoulders-Messages-content" ref={content}>
          {view.messages.map(message => (
            <Message key={message.seq} message={message} />
          ))}
          {isAwaitingFirst(view) && <Dots />}
          {view.turn?.state === 'interrupted' && <InterruptedCard />}
          {outbox.map(item => (
            <Outgoing key={item.body.id} item={item} />
          ))}
        </div>
      </div>
      {away && (
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

const Message = React.memo(function Message(props: {
  message: MessageView;
}): React.JSX.Element {
  const { message } = props;
  return (
    <div className={`shoulders-Message shoulders-mod-${message.role}`}>
      {message.role === 'user' ? (
        <UserBubble
          text={message.text}
          at={message.at}
          context={message.context}
        />
      ) : (
        <AgentMessage message={message} />
      )}
    </div>
  );
});

/** Keep the end in view while the user is there; a message just sent brings them there. */
function useFollow(sent: number): {
  scroller: React.RefObject<HTMLDivElement>;
  content: React.RefObject<HTMLDivElement>;
  away: boolean;
  toEnd: () => void;
} {
  const scroller = React.useRef<HTMLDivElement>(null);
  const content = React.useRef<HTMLDivElement>(null);
  const follows = React.useRef(true);
  const [away, setAway] = React.useState(false);
  const toEnd = React.useCallback(() => {
    follows.current = true;
    const element = scroller.current;
    if (element !== null) {
      element.scrollTop = element.scrollHeight;
    }
  }, []);
  React.useLayoutEffect(() => {
    const element = scroller.current;
    const inner = content.current;
    if (element === null || inner === null) {
      return;
    }
    const onScroll = (): void => {
      const left =
        element.scrollHeight - element.scrollTop - element.clientHeight;
      follows.current = left < NEAR;
      setAway(left > element.clientHeight);
    };
    const onGrowth = (): void => {
      if (follows.current) {
        toEnd();
      }
    };
    const observer = new ResizeObserver(onGrowth);
    observer.observe(inner);
    observer.observe(element);
    element.addEventListener('scroll', onScroll, { passive: true });
    toEnd();
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', onScroll);
    };
  }, [toEnd]);
  React.useLayoutEffect(() => {
    if (sent > 0) {
      toEnd();
    }
  }, [sent, toEnd]);
  return { scroller, content, away, toEnd };
}
