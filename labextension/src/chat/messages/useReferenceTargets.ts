/** The possible reference targets of an answer, and how to open them. Used by `AgentMessage`. */

import * as React from 'react';

import {
  cellIdOf,
  referenceIndex,
  notebookOf,
  knownPaths,
  type Reference
} from '../../model/view-models/textReferences';
import type { AgentView, MessageView } from '../../wire/generated';
import type { IDocumentTarget } from '../../host/messageHost';
import type { IReferenceTargets } from '../markdown/useReferenceLinks';
import { useHost, useTabContext } from '../../ui/hooks';

const NONE: readonly MessageView[] = [];

/** Memoised by content; null in a page that cannot open documents. */
export function useReferenceTargets(
  message: AgentView
): IReferenceTargets | null {
  const { openTarget, situation } = useHost();
  const { conversations, tab } = useTabContext();
  const messages = conversations.store(tab)?.view.messages ?? NONE;
  const notebook = notebookOf(message, messages);
  // One string, so that it is compared by value.
  const paths = JSON.stringify(
    knownPaths(message, messages, situation.openDocuments)
  );
  const newest = React.useRef(message);
  React.useEffect(() => {
    newest.current = message;
  }, [message]);
  return React.useMemo(() => {
    if (openTarget === null) {
      return null;
    }
    const targetOf = (reference: Reference): IDocumentTarget | null => {
      if (reference.kind === 'file') {
        return { path: reference.path };
      }
      const { number } = reference;
      const all = conversations.store(tab)?.view.messages ?? NONE;
      return notebook === null
        ? null
        : {
            path: notebook,
            cellId: cellIdOf(number, newest.current, all, notebook),
            cellNumber: number
          };
    };
    return {
      known: referenceIndex(JSON.parse(paths) as string[], notebook), // Written above.
      open: reference => {
        const target = targetOf(reference);
        if (target !== null) {
          openTarget(target);
        }
      }
    };
  }, [openTarget, conversations, tab, notebook, paths]);
}
