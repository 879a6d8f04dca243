/** A proposal with the user's edit of it and the present text of its document. Used by the views of a proposal. */

import * as React from 'react';

import { documentOf } from '../../model/view-models/proposals';
import type { Proposal } from '../../wire/generated';
import { useHost, useSignal, useTabContext } from '../../ui/hooks';

export interface IEdit {
  /** Null while they have changed nothing. */
  readonly text: string | null;
  /** Whether they have just asked for the field: one that another tab or a reload brings back takes no focus. */
  readonly isAsked: boolean;
  readonly begin: () => void;
  readonly change: (text: string) => void;
  readonly leave: () => void;
}

export function useEdit({ id, state, new: proposed }: Proposal): IEdit {
  const { conversations, tab } = useTabContext();
  const [text, setText] = React.useState(() => conversations.edit(tab, id));
  const [isAsked, setAsked] = React.useState(false);
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
    isAsked,
    begin: () => {
      setAsked(true);
      change(proposed);
    },
    change,
    leave: () => change(null)
  };
}

export function useDocument(proposal: Proposal): string {
  const { conversations, tab } = useTabContext();
  return useSignal(conversations.changed, () =>
    documentOf(proposal, conversations.anchor(tab))
  );
}

export function useNow(proposal: Proposal): string | null | undefined {
  const { texts } = useHost();
  const document = useDocument(proposal);
  const { state, cell_id } = proposal;
  return useSignal(texts?.changed ?? null, () => {
    const now =
      state === 'proposed' ? texts?.textOf(document, cell_id) : undefined;
    return typeof now === 'string' ? plain(now) : now;
  });
}

function plain(text: string): string {
  return text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
}
