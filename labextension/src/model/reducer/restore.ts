/** What becomes of a conversation when something is put back; used by the reducer alone. */

import type { Conversation, Restore } from '../../wire/generated';
import { takenBack } from './changes';
import { rewound } from './messages';
import { addPart } from './parts';

/** Documents, or the conversation, went back to before a message. */
export function restored(state: Conversation, event: Restore): Conversation {
  const { restore_id, seq, what, documents, drift, undone } = event;
  const before = event.conversation
    ? rewound(state, event, event.conversation)
    : state;
  const undoneTurn = event.undone_turn ?? null; // Logs of older servers have none.
  return addPart(takenBack(before, undoneTurn), event, {
    type: 'restore',
    restore_id,
    seq,
    what,
    documents,
    drift,
    undone,
    undone_turn: undoneTurn
  });
}
