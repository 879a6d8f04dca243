/** The places that an answer cites, in the order of their numbers. */

import * as React from 'react';

import type { ICitedSource } from '../../model/view-models/citedSources';
import { visible } from '../../text/hiddenCharacters';
import type { ICitations } from '../markdown/CitationChip';
import {
  citationLabel,
  fileLabel,
  placeLabel
} from '../markdown/citationLabels';
import { Disclosure } from '../../ui/primitives';
import { useTrans } from '../../ui/hooks';

/** A longer list starts collapsed. */
const MOST_SHOWN = 3;

export function CitedSources(props: {
  citations: ICitations;
}): React.JSX.Element | null {
  const trans = useTrans();
  const { sources, open } = props.citations;
  if (sources.size === 0) {
    return null;
  }
  const list = (
    <ol>
      {[...sources.values()].map(source => (
        <li key={source.number}>
          <Source source={source} open={open} />
        </li>
      ))}
    </ol>
  );
  return (
    <section className="shoulders-Cited" aria-label={trans.__('Sources')}>
      {sources.size > MOST_SHOWN ? (
        <Disclosure
          className="shoulders-Cited-toggle"
          summary={trans._n('%1 source', '%1 sources', sources.size)}
        >
          {() => list}
        </Disclosure>
      ) : (
        <>
          <h4 className="shoulders-Sources-title">{trans.__('Sources')}</h4>
          {list}
        </>
      )}
    </section>
  );
}

function Source(props: {
  source: ICitedSource;
  open: ICitations['open'];
}): React.JSX.Element {
  const { source, open } = props;
  const trans = useTrans();
  const place = placeLabel(source, trans);
  return (
    <button
      type="button"
      className="shoulders-Cited-source"
      title={[visible(source.citation.path), place].join('\n').trim()}
      aria-label={citationLabel(source, trans)}
      disabled={open === null}
      onClick={() => open?.(source.citation)}
    >
      <span className="shoulders-Cited-number">{source.number}</span>
      <span className="shoulders-Cited-file">{fileLabel(source)}</span>
      {place !== '' && <span className="shoulders-Cited-place">{place}</span>}
    </button>
  );
}
