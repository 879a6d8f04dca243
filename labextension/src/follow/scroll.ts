/** Scrolling that one can follow with the eyes, and only as far as needed. Used by the follower of the page. */

/** A vertical extent, in px of the window. */
export interface IExtent {
  readonly top: number;
  readonly bottom: number;
}

/** Kept free above and below, in px. */
const MARGIN = 32;
/** Shorter ways are not worth a movement, in px. */
const NOTABLE = 4;
/** What scrolls into view may turn out to be of another height than estimated. */
const ROUNDS = 3;
/** Longest wait for the end of a scroll, in ms. */
const LONGEST = 900;

/** How far to scroll until `target` is in `view`; of a target that is too high, its start. */
export function distanceTo(view: IExtent, target: IExtent): number {
  const above = target.top - MARGIN - view.top;
  const below = target.bottom + MARGIN - view.bottom;
  if (above < 0) {
    // What is higher than the view may fill it.
    return target.bottom - MARGIN > view.bottom ? 0 : above;
  }
  return below > 0 ? Math.min(below, above) : 0;
}

/** Scroll an element until a target is in its view, as long as `isWanted`. */
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
      return; // At its end.
    }
  }
}

/** Stop a movement where it is. */
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
    const timer = setTimeout(done, LONGEST);
    scroller.addEventListener('scrollend', done);
  });
}
