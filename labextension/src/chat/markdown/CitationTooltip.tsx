/** The path, heading and snippet of a citation beside its number. In the top layer, because messages clip. */

import * as React from 'react';

import type { ICitedSource } from '../../model/view-models/citedSources';
import { legible, visible } from '../../text/hiddenCharacters';
import { useTrans } from '../../ui/hooks';
import { placeLabel } from './citationLabels';

/** Least distance from the edges of the window, in px. */
const MARGIN = 8;

export function CitationTooltip(props: {
  id: string;
  source: ICitedSource;
  anchor: React.RefObject<HTMLElement>;
}): React.JSX.Element {
  const { id, source, anchor } = props;
  const trans = useTrans();
  const ref = React.useRef<HTMLSpanElement>(null);
  React.useLayoutEffect(() => {
    const { current: tooltip } = ref;
    const place = (): void => {
      if (tooltip !== null && anchor.current !== null) {
        placeBeside(tooltip, anchor.current);
      }
    };
    if (tooltip !== null && 'showPopover' in tooltip) {
      tooltip.popover = 'manual';
      tooltip.showPopover();
    }
    place();
    window.addEventListener('scroll', place, true);
    return () => window.removeEventListener('scroll', place, true);
  }, [anchor]);
  const place = placeLabel(source, trans);
  const snippet = source.passage?.snippet ?? '';
  return (
    <span
      ref={ref}
      id={id}
      role="tooltip"
      className="shoulders-Citation-tooltip"
    >
      <span className="shoulders-Citation-path">
        {visible(source.citation.path)}
      </span>
      {place !== '' && (
        <span className="shoulders-Citation-place">{place}</span>
      )}
      {snippet !== '' && (
        <span className="shoulders-Citation-snippet">{legible(snippet)}</span>
      )}
    </span>
  );
}

/** Below its anchor, or above it where there is no space. */
function placeBeside(tooltip: HTMLElement, anchor: HTMLElement): void {
  const { left, top, bottom } = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = tooltip;
  const isBelow = bottom + height + MARGIN <= window.innerHeight;
  const rightmost = Math.max(MARGIN, window.innerWidth - width - MARGIN);
  tooltip.style.left = `${Math.min(left, rightmost)}px`;
  tooltip.style.top = `${isBelow ? bottom : top - height}px`;
}
