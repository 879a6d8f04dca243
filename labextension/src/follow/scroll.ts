/** Smooth scrolling by the smallest distance. Used by the follower. */

/** A vertical extent, in px of the window. */
export interface IExtent {
  readonly top: number;
  readonly bottom: number;
}

/** Free space above and below, in px. */
const MARGIN = 32;
/** Shorter distances are ignored, in px. */
const NOTABLE = 4;
/** Number of scrolls: content that comes into view may differ from its estimated height. */
const ROUNDS = 3;
/** Longest wait for the end of a scroll, in ms. */
const MAX_SCROLL_TIME = 900;

/** Distance to scroll until `target` is in `view`; for a taller target, until its start is. */
export function distanceTo(view: IExtent, target: IExtent): number {
  const above = target.top - MARGIN - view.top;
  const below = target.bottom + MARGIN - view.bottom;
  if (above < 0) {
    // A target taller than the view may fill it.
    return target.bottom - MARGIN > view.bottom ? 0 : above;
  }
  return below > 0 ? Math.min(below, above) : 0;
}

/** Scroll an element until a target is in view, as long as `isWanted` returns true. */
export async function scrollTo(
  scroller: Element,
  target: () => IExtent | null,
  isWanted: () => boolean
): Promise<void> {
  for (let round = 0; round < ROUNDS && isWanted(); round++) {
    const extent = target();
    const { top, bottom } = scroller.getBoundingClientRect();
    const distance = extent === null ? 0 : distanceTo({ top, bottom }, extent);
    if (Math.abs(distance) < NOTABLE) {
      return;
    }
    const before = scroller.scrollTop;
    const ended = scrollEnd(scroller);
    scroller.scrollBy({ top: distance, behavior: behavior() });
    await ended;
    if (Math.abs(scroller.scrollTop - before) < NOTABLE) {
      return; // The end of the content.
    }
  }
}

/** Stop scrolling at the current position. */
export function stopScroll(scroller: Element): void {
  scroller.scrollTo({ top: scroller.scrollTop, behavior: 'instant' });
}

function behavior(): ScrollBehavior {
  return matchMedia('(prefers-reduced-motion: reduce)').matches
    ? 'instant'
    : 'smooth';
}

function scrollEnd(scroller: Element): Promise<void> {
  return new Promise(resolve => {
    const done = (): void => {
      clearTimeout(timer);
      scroller.removeEventListener('scrollend', done);
      resolve();
    };
    const timer = setTimeout(done, MAX_SCROLL_TIME);
    scroller.addEventListener('scrollend', done);
  });
}
