/** Stops the turn and puts queued messages back into an empty input. */

import * as React from 'react';

import { isRunning } from '../model/present';
import { takeBackQueued } from '../model/queued';
import type { Conversation, ErrorInfo } from '../wire/generated';
import { focusField, useAction, usePlace } from './use';

export function useStop(view: Conversation): {
  stop: () => void;
  error: ErrorInfo | null;
} {
  const { conversations, tab } = usePlace();
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
        focusField();
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
