/** A proposal with the user's edit and the current text of its document. Used by the views of a proposal. */

import * as React from 'react';

import { documentOf } from '../../model/view-models/proposals';
import type { Proposal } from '../../wire/generated';
import { useHost, useSignal, useTabContext } from '../../ui/hooks';

/** Null without an edit. */
export interface IProposalEdit {
  /** Whether the user just opened the field; a restored one does not take the focus. */
  readonly text: string | null;
  /** Whether they have just asked for the field: one that another tab or a reload brings back takes no focus. */
  readonly takesFocus: boolean;
  readonly start: () => void;
  readonly change: (text: string) => void;
  readonly discard: () => void;
}

/** Keeps the edit with the tab, as message edits are, until it is applied or discarded; a proposal that failed still shows it. */
export function useProposalEdit({
  id,
  state,
  new: proposed
}: Proposal): IProposalEdit {
  const { conversations, tab } = useTabContext();
  const [text, setText] = React.useState(() => conversations.edit(tab, id));
  const [takesFocus, setTakesFocus] = React.useState(false);
  const change = (now: string | null): void => {
    setText(now);
    conversations.setEdit(tab, id, now);
  };
  const isDone =
    state !== 'proposed' && state !== 'conflict' && state !== 'stale';
  React.useEffect(() => {
    if (isDone && conversations.edit(tab, id) !== null) {
      conversations.setEdit(tab, id, null);
    }
  }, [conversations, tab, id, isDone]);
  return {
    text,
    takesFocus,
    start: () => {
      setTakesFocus(true);
      change(proposed);
    },
    change,
    discard: () => change(null)
  };
}

/** The current path of the document. */
export function useDocumentPath(proposal: Proposal): string {
  const { conversations, tab } = useTabContext();
  return useSignal(conversations.changed, () =>
    documentOf(proposal, conversations.anchor(tab))
  );
}

/** The text of an open proposal's document; null if its cell was deleted, undefined if unknown. */
export function useCurrentText(proposal: Proposal): string | null | undefined {
  const { texts } = useHost();
  const document = useDocumentPath(proposal);
  const { state, cell_id } = proposal;
  return useSignal(texts?.changed ?? null, () => {
    const now =
      state === 'proposed' ? texts?.textOf(document, cell_id) : undefined;
    return typeof now === 'string' ? plain(now) : now;
  });
}

/** Removes the byte order mark and normalises line ends, which editors keep separately. */
function plain(text: string): string {
  return text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
}
