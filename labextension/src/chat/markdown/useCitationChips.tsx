/** Puts chips in the place of citation markers. Only this code makes chips; no text can. Used by `Html`. */

import * as React from 'react';
import { createPortal } from 'react-dom';

import { citationAt, markerOf, type ICitation } from '../../text/citations';
import { CitationChip } from './CitationChip';
import { CITATION } from './grammar';

/** An emptied marker element, in which a chip is rendered. */
interface ISlot {
  readonly element: Element;
  readonly citation: ICitation;
}

const NO_SLOTS: readonly ISlot[] = [];

/** `cite` takes the markers out of an element that was just filled; `chips` are rendered in their places. */
export function useCitationChips(): {
  readonly chips: React.ReactNode;
  readonly cite: (block: HTMLElement) => void;
} {
  const [slots, setSlots] = React.useState(NO_SLOTS);
  const cite = React.useCallback((block: HTMLElement) => {
    const found = slotsIn(block);
    setSlots(found.length === 0 ? NO_SLOTS : found);
  }, []);
  const chips = slots.map(({ element, citation }, index) =>
    createPortal(<CitationChip citation={citation} />, element, String(index))
  );
  return { chips, cite };
}

/** A button cannot be in a link; code is shown as it is. */
const NOT_CITED = 'a, code, pre';

/** Empty the markers; those that are not valid or not allowed become text. */
function slotsIn(block: HTMLElement): readonly ISlot[] {
  const slots: ISlot[] = [];
  for (const element of block.querySelectorAll(`.${CITATION}`)) {
    const found = citationAt(element.textContent);
    if (found === null || element.closest(NOT_CITED) !== null) {
      element.replaceWith(element.textContent);
      continue;
    }
    const before = slots.at(-1);
    if (before !== undefined && repeats(before, element, found.citation)) {
      element.remove();
      continue;
    }
    element.replaceChildren();
    slots.push({ element, citation: found.citation });
  }
  return slots;
}

/** Whether a marker directly follows another one of the same place. */
function repeats(before: ISlot, element: Element, next: ICitation): boolean {
  let previous = element.previousSibling;
  while (previous instanceof Text && previous.data.trim() === '') {
    previous = previous.previousSibling;
  }
  return (
    previous === before.element && markerOf(before.citation) === markerOf(next)
  );
}
