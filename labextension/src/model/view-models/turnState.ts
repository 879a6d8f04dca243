/** State of a turn for commands, also before any view is loaded. Pure. */

import type { CallView, Conversation } from '../../wire/generated';

/** Whether a turn is open, including one that waits. */
export function isRunning(view: Conversation): boolean {
  const state = view.turn?.state;
  return (
    (state === 'running' || state === 'waiting' || state === 'retrying') &&
    !isAbandoned(view)
  );
}

/** Whether the server abandoned a conversation with an open turn and no tools: it cannot be resumed. */
export function isAbandoned({ session, turn }: Conversation): boolean {
  return (
    session?.status === 'error' &&
    session.tools === 'disabled' &&
    turn !== null &&
    turn.state !== 'ended'
  );
}

/** The call that waits for the user. */
export function pendingCall(view: Conversation): CallView | null {
  return view.pending_call === null
    ? null
    : (view.messages
        .flatMap(message => (message.role === 'agent' ? message.parts : []))
        .filter(part => part.type === 'call')
        .reverse()
        .find(call => call.call_id === view.pending_call) ?? null);
}
