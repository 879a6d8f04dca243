/** State and result of proposed changes. Pure; used by the proposal card and by threads. */

import { mergePreferring, mergeWords } from '../../text/merge';
import type {
  Anchor,
  Conversation,
  PendingEdit,
  Proposal
} from '../../wire/generated';

/** The result of a proposal on the current text. */
export interface IProposedText {
  /** The current text. */
  readonly current: string;
  /** The text with the change; on a conflict, with the agent's lines. */
  readonly text: string;
  /** Whether the user changed the same lines and has to choose. */
  readonly hasConflict: boolean;
}

/** The agent's change, or the user's version of it, merged into the current text. */
export function proposedText(
  { old, new: proposed }: Pick<Proposal, 'old' | 'new'>,
  current: string,
  edited: string | null = null
): IProposedText {
  const wanted = edited ?? proposed;
  const merged = mergeWords(old, current, wanted);
  return {
    current,
    text: merged ?? mergePreferring(old, current, wanted),
    hasConflict: merged === null
  };
}

/** The pending edit of an applied proposal. */
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
 * The current path of a proposal's document: a thread's document may have been renamed. A proposal copied with its
 * conversation keeps the document of the original.
 */
export function documentOf(
  { id, session_id, document }: Proposal,
  anchor: Anchor | null
): string {
  const isCopied = id.endsWith(`.${session_id}`); // The server's naming of copies.
  return anchor === null || isCopied ? document : anchor.document;
}

/** Id of the proposal applied last, when nothing in the conversation waits for a decision; else null. */
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
