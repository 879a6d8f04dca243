/** The draft of this tab; an outside change (a chip, a command) shows, too. */

import * as React from 'react';

import type { IEditorContext } from '../../host/chatHost';
import type { RemovedPieces, ContextPiece } from './editorContext';
import { useTabContext } from '../../ui/hooks';

export interface IDraft {
  readonly text: string;
  readonly set: (text: string) => void;
}

export function useDraft(): IDraft {
  const { conversations, tab } = useTabContext();
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

const NOTHING: RemovedPieces = new Set();

/** What is left out of the situation, until the message is sent or another document is in front. */
export function useLeft({ document }: IEditorContext): {
  left: RemovedPieces;
  leave: (piece: ContextPiece) => void;
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
