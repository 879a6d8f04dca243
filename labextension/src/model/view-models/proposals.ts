/** What became of the changes a conversation proposed. Pure; used by the card of a proposal and by threads. */

import { mergePreferring, mergeWords } from '../../text/merge';
import type {
  Anchor,
  Conversation,
  PendingEdit,
  Proposal
} from '../../wire/generated';

/** The result of a proposal on the present text. */
export interface IProposedText {
  /** The text as it is. */
  readonly now: string;
  /** The text with the change; where both changed the same lines, with the agent's. */
  readonly text: string;
  /** Whether the user changed the same lines, so that they have to choose. */
  readonly clash: boolean;
}

/** The agent's change, or the user's version of it, on top of the text as it is. */
export function proposedText(
  { old, new: proposed }: Pick<Proposal, 'old' | 'new'>,
  now: string,
  edited: string | null = null
): IProposedText {
  const wanted = edited ?? proposed;
  const merged = mergeWords(old, now, wanted);
  return {
    now,
    text: merged ?? mergePreferring(old, now, wanted),
    clash: merged === null
  };
}

/** The change in the document that a proposal became, while it awaits keep or undo. */
export function editOfProposal(
  { session_id, document, cell_id, state }: Proposal,
  edits: readonly PendingEdit[]
): PendingEdit | null {
  if (state !== 'applied' && state !== 'edited') {
    return null;
  }
  const found = edits.find(
    edit =>
      edit.session_id === session_id &&
      edit.document === document &&
      edit.cell_id === cell_id
  );
  return found ?? null;
}

/**
 * What the document of a proposal is called now: what a thread proposes is about the document it is pinned to, which may
 * have been renamed. A proposal that was copied with its conversation is still about the document of the origin.
 */
export function documentOf(
  { id, session_id, document }: Proposal,
  anchor: Anchor | null
): string {
  const isCopied = id.endsWith(`.${session_id}`); // As the server names copies.
  return anchor === null || isCopied ? document : anchor.document;
}

/** Id of the proposal that was applied last, once nothing of the conversation awaits a decision; else null. */
export function appliedIn(
  view: Conversation,
  edits: readonly PendingEdit[]
): string | null {
  const proposals = proposalsOf(view);
  const waits =
    proposals.some(({ state }) => state === 'proposed') ||
    view.changes.some(({ state }) => state === 'pending') ||
    edits.some(({ session_id }) => session_id === view.session?.id);
  const applied = proposals.filter(
    ({ state }) => state === 'applied' || state === 'edited'
  );
  return waits ? null : (applied.at(-1)?.id ?? null);
}

function proposalsOf({ messages }: Conversation): Proposal[] {
  return messages.flatMap(message =>
    message.role === 'agent'
      ? message.parts.flatMap(part =>
          part.type === 'proposal' ? [part.proposal] : []
        )
      : []
  );
}
