/** The citations of an answer: their numbers, passages, and how to open them. Used by `AgentMessage`. */

import * as React from 'react';

import { plainError } from '../../client/http';
import {
  citedSources,
  distinctCitations
} from '../../model/view-models/citedSources';
import {
  MARKER_START,
  withoutUnfinishedMarker,
  type ICitation
} from '../../text/citations';
import { visible } from '../../text/hiddenCharacters';
import type { AgentView, TextView } from '../../wire/generated';
import { makeSplitter, type Splitter } from '../markdown/blocks';
import type { ICitations } from '../markdown/CitationChip';
import { citationsIn } from '../markdown/citationTokens';
import { ActionsContext } from '../sessions/usePanelActions';
import { useHost, useTabContext } from '../../ui/hooks';
import { openCitation } from './openCitation';

/** The text of a part as shown; a marker that has not arrived as a whole is hidden. */
export function shownText({ text, open }: TextView): string {
  return open ? withoutUnfinishedMarker(text) : text;
}

/** Changes only with the list of cited places. */
export function useCitations(message: AgentView): ICitations {
  const { conversations, tab } = useTabContext();
  const [splitterOf] = React.useState(makeSplitters);
  const open = useOpenCitation();
  // One string, so that it is compared by value.
  const cited = JSON.stringify(
    distinctCitations(citationsOf(message, splitterOf))
  );
  return React.useMemo(() => {
    const messages = conversations.store(tab)?.view.messages ?? [];
    const citations = JSON.parse(cited) as ICitation[]; // Written above.
    return { sources: citedSources(citations, messages), open, splitterOf };
  }, [cited, open, splitterOf, conversations, tab]);
}

function citationsOf(
  { parts }: AgentView,
  splitterOf: (partId: string) => Splitter
): readonly ICitation[] {
  return parts.flatMap(part =>
    part.type === 'text' && part.text.includes(MARKER_START)
      ? citationsIn(splitterOf(part.part_id)(shownText(part)))
      : []
  );
}

/** One splitter for each text. */
function makeSplitters(): (partId: string) => Splitter {
  const splitters = new Map<string, Splitter>();
  return partId => {
    const splitter = splitters.get(partId) ?? makeSplitter();
    splitters.set(partId, splitter);
    return splitter;
  };
}

/** Opens a place; reports in the panel when its cell is gone. Null in a page that opens no documents. */
function useOpenCitation(): ((citation: ICitation) => void) | null {
  const { openTarget, texts, trans } = useHost();
  const view = React.useContext(ActionsContext)?.view ?? null;
  return React.useMemo(() => {
    if (openTarget === null) {
      return null;
    }
    return citation =>
      void openCitation(citation, openTarget, texts).then(isFound => {
        const error = trans.__(
          'The cited cell is no longer in %1.',
          visible(citation.path)
        );
        view?.change({ error: isFound ? null : plainError(error, false) });
      });
  }, [openTarget, texts, trans, view]);
}
