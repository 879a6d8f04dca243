/** Brings the message into view that a conversation was opened at, such as a place that search found. */

import * as React from 'react';

import { scrollToItem } from '../../ui/paged-list/scrollToItem';
import { useSignal, useTabContext } from '../../ui/hooks';
import type { MessageView } from '../../wire/generated';

/** Scroll to the target once its message is there, and focus it. */
export function useMessageTarget(
  scroller: React.RefObject<HTMLElement>,
  messages: readonly MessageView[]
): void {
  const { conversations, tab } = useTabContext();
  const target = useSignal(conversations.revealed, () => conversations.target);
  React.useEffect(() => {
    const list = scroller.current;
    const isHere =
      target !== null && conversations.session(tab)?.id === target.sessionId;
    const index = isHere
      ? messages.findIndex(
          message =>
            message.role === 'user' && message.message_id === target.messageId
        )
      : -1;
    const seq = messages[index]?.seq;
    if (list === null || target === null || seq === undefined) {
      return;
    }
    return scrollToItem(list, index, `[data-seq="${seq}"]`, message => {
      conversations.target = null;
      message.focus({ preventScroll: true });
    });
  }, [conversations, tab, target, messages, scroller]);
}
