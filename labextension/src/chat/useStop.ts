/** Stops the turn and puts queued messages back into an empty input. */

import * as React from 'react';

import { isRunning } from '../model/view-models/conversationItems';
import { takeBackQueued } from '../model/conversations/queuedMessages';
import type { Conversation, ErrorInfo } from '../wire/generated';
import { focusComposer, useAction, useTabContext } from '../ui/hooks';

export function useStop(view: Conversation): {
  stop: () => void;
  error: ErrorInfo | null;
} {
  const { conversations, tab } = useTabContext();
  const { error, run } = useAction();
  const stopping = React.useRef(false);
  const running = isRunning(view);
  const { queued } = view;
  React.useEffect(() => {
    if (running || !stopping.current) {
      return;
    }
    stopping.current = false;
    run(async () => {
      if (await takeBackQueued(conversations, tab, queued)) {
        focusComposer();
      }
    });
  }, [running, queued, conversations, tab, run]);
  const stop = (): void =>
    run(async () => {
      stopping.current = true;
      try {
        await conversations.commands.cancel(tab);
      } catch (failure) {
        stopping.current = false;
        throw failure;
      }
    });
  return { stop, error };
}
