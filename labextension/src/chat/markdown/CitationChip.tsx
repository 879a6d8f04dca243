/** The number of a citation in an answer. Shows the cited passage on hover and focus, and opens the place. */

import * as React from 'react';

import type { ICitedSource } from '../../model/view-models/citedSources';
import { markerOf, type ICitation } from '../../text/citations';
import { useTrans } from '../../ui/hooks';
import type { Splitter } from './blocks';
import { citationLabel } from './citationLabels';
import { CitationTooltip } from './CitationTooltip';

/** The citations of a message. */
export interface ICitations {
  /** By marker, in order of first use. */
  readonly sources: ReadonlyMap<string, ICitedSource>;
  /** Null in a page that opens no documents. */
  readonly open: ((citation: ICitation) => void) | null;
  /** The splitter of a text of the message, which has found its citations. */
  readonly splitterOf: (partId: string) => Splitter;
}

/** Null outside of answers, where markers stay text. */
export const CitationsContext = React.createContext<ICitations | null>(null);

export function CitationChip(props: {
  citation: ICitation;
}): React.JSX.Element {
  const citations = React.useContext(CitationsContext);
  const marker = markerOf(props.citation);
  const source = citations?.sources.get(marker);
  return source === undefined ? (
    <>{marker}</>
  ) : (
    <Chip source={source} open={citations?.open ?? null} />
  );
}

function Chip(props: {
  source: ICitedSource;
  open: ICitations['open'];
}): React.JSX.Element {
  const { source, open } = props;
  const { number, citation } = source;
  const trans = useTrans();
  const id = React.useId();
  const chip = React.useRef<HTMLButtonElement>(null);
  const [shown, setShown] = React.useState(false);
  const hide = (): void => setShown(false);
  return (
    <span
      onMouseEnter={() => setShown(true)}
      onMouseLeave={hide}
      onFocus={() => setShown(true)}
      onBlur={hide}
      onKeyDown={event => {
        if (event.key === 'Escape' && shown) {
          event.stopPropagation();
          hide();
        }
      }}
    >
      <span className="shoulders-Citation-copied" aria-hidden>
        ({citation.path})
      </span>
      <button
        ref={chip}
        type="button"
        className="shoulders-Citation-chip"
        aria-label={citationLabel(source, trans)}
        aria-describedby={shown ? id : undefined}
        aria-disabled={open === null}
        onClick={() => open?.(citation)}
      >
        {number}
      </button>
      {shown && <CitationTooltip id={id} source={source} anchor={chip} />}
    </span>
  );
}
