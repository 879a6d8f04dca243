/** The conversation's messages, in a list that follows the newest text while the user is at its end. */

import * as React from 'react';

import { isAwaitingFirst, isSetAside } from '../model/present';
import type { IOutgoing } from '../model/outbox';
import type { Conversation, MessageView } from '../wire/generated';
import { AgentMessage } from './AgentMessage';
import { InterruptedCard } from './InterruptedCard';
import { Outgoing } from './Outgoing';
import { Dots, IconButton } from './parts';
import { useTrans } from './use';
import { UserBubble } from './UserBubble';

/** Messages rendered at first, and each time the user comes near the earliest one shown. */
const PAGE = 20;

/** How near the end counts as being there, in px. */
const NEAR = 32;

export function MessageList(props: {
  view: Conversation;
  outbox: readonly IOutgoing[];
}): React.JSX.Element {
  const trans = useTrans();
  const { view, outbox } = props;
  const { scroller, content, away, toEnd } = useFollow(outbox.length);
  const { start, earlier } = useWindow(view.messages.length, scroller);
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
          {start > 0 && <div ref={earlier} />}
          {view.messages.slice(start).map(message => (
            <Message
              key={message.seq}
              message={message}
              last={message === view.messages.at(-1)}
            />
          ))}
          {isAwaitingFirst(view) && <Dots />}
          {view.turn?.state === 'interrupted' && !isSetAside(view) && (
            <InterruptedCard />
          )}
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
  last: boolean;
}): React.JSX.Element {
  const { message } = props;
  return (
    <div className={`shoulders-Message shoulders-mod-${message.role}`}>
      {message.role === 'user' ? (
        <UserBubble
          text={message.text}
          at={message.at}
          context={message.context}
          seq={message.seq}
        />
      ) : (
        <AgentMessage message={message} last={props.last} />
      )}
    </div>
  );
});

/** Render the newest messages only, and earlier ones as the user scrolls up to them. */
function useWindow(
  count: number,
  scroller: React.RefObject<HTMLDivElement>
): { start: number; earlier: React.RefObject<HTMLDivElement> } {
  const earlier = React.useRef<HTMLDivElement>(null);
  const [start, setStart] = React.useState(() => Math.max(0, count - PAGE));
  const height = React.useRef(0);
  React.useLayoutEffect(() => {
    const element = scroller.current;
    if (element !== null && height.current > 0 && !ANCHORS) {
      element.scrollBy(0, element.scrollHeight - height.current);
    }
    height.current = 0;
  }, [start, scroller]);
  React.useEffect(() => {
    const { current: mark } = earlier;
    const { current: root } = scroller;
    if (mark === null || root === null) {
      return;
    }
    const observer = new IntersectionObserver(
      entries => {
        if (entries.some(entry => entry.isIntersecting)) {
          height.current = root.scrollHeight;
          setStart(before => Math.max(0, before - PAGE));
        }
      },
      { root, rootMargin: '800px 0px 0px 0px' }
    );
    observer.observe(mark);
    return () => observer.disconnect();
  }, [start, scroller]);
  return { start, earlier };
}

/** Whether the browser keeps its place when something is added above it. */
const ANCHORS =
  typeof CSS !== 'undefined' && CSS.supports('overflow-anchor', 'auto');

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
    let before = element.scrollTop;
    const onScroll = (): void => {
      const { scrollTop } = element;
      const left = element.scrollHeight - scrollTop - element.clientHeight;
      // Only the way up leaves the end; a field that takes the focus may scroll a little down.
      follows.current = left < NEAR || (follows.current && scrollTop >= before);
      before = scrollTop;
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
