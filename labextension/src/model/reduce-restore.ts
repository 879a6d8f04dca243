/** What becomes of a conversation when something is put back; used by the reducer alone. */

import type { Conversation, Restore } from '../wire/generated';
import { rewound } from './reduce-messages';
import { addPart } from './reduce-parts';

/** Documents, or the conversation, went back to before a message. */
export function restored(state: Conversation, event: Restore): Conversation {
  const { restore_id, seq, what, documents, drift, undone } = event;
  const before = event.conversation
    ? rewound(state, event, event.conversation)
    : state;
  return addPart(before, event, {
    type: 'restore',
    restore_id,
    seq,
    what,
    documents,
    drift,
    undone,
    undone_turn: event.undone_turn ?? null // Logs of older servers have none.
  });
}
