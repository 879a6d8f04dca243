/** The draft of this tab; an outside change (a chip, a command) shows, too. */

import * as React from 'react';

import type { ISituation } from '../host';
import type { Left, Piece } from '../../model/situation';
import { usePlace } from '../use';

export interface IDraft {
  readonly text: string;
  readonly set: (text: string) => void;
}

export function useDraft(): IDraft {
  const { conversations, tab } = usePlace();
  const [text, setText] = React.useState(() => conversations.draft(tab));
  const set = (next: string): void => {
    setText(next);
    conversations.setDraft(tab, next);
  };
  React.useEffect(() => {
    const read = (): void => setText(conversations.draft(tab));
    conversations.changed.connect(read);
    return () => {
      conversations.changed.disconnect(read);
    };
  }, [conversations, tab]);
  return { text, set };
}

const NOTHING: Left = new Set();

/** What is left out of the situation, until the message is sent or another document is in front. */
export function useLeft({ document }: ISituation): {
  left: Left;
  leave: (piece: Piece) => void;
  takeBack: () => void;
} {
  const [state, setState] = React.useState({ document, left: NOTHING });
  const left = state.document === document ? state.left : NOTHING;
  return {
    left,
    leave: piece => setState({ document, left: new Set([...left, piece]) }),
    takeBack: () => setState({ document, left: NOTHING })
  };
}
