/** What commands ask of a conversation, also before anything is shown: is its turn going on, does a call wait? Pure. */

import type { CallView, Conversation } from '../../wire/generated';

/** Whether a turn is going on, waiting included. */
export function isRunning(view: Conversation): boolean {
  const state = view.turn?.state;
  return (
    (state === 'running' || state === 'waiting' || state === 'retrying') &&
    !isSetAside(view)
  );
}

/** Whether the server gave a conversation up with its turn open, without tools: it could not be taken up again. */
export function isSetAside({ session, turn }: Conversation): boolean {
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
