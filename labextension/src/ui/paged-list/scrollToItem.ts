/** Scrolls a `PagedList` to one of its items, which may be on a page that is not rendered. */

import { PAGE } from './pages';

/** Frames for the pages on the way to be rendered and measured. */
const MOST_FRAMES = 120;
/** Frames for which the item has to stay where it is. */
const STEADY_FRAMES = 5;

/**
 * Scroll to an item and call `done` with its element once it stays in view. Heights of pages are estimates until they
 * are rendered, so the way is measured again in each frame. Returns a function that gives up.
 */
export function scrollToItem(
  scroller: HTMLElement,
  index: number,
  selector: string,
  done: (item: HTMLElement) => void
): () => void {
  const start = Math.floor(index / PAGE) * PAGE;
  let frames = 0;
  let steady = 0;
  let request = 0;
  const step = (): void => {
    const item = scroller.querySelector<HTMLElement>(selector);
    const place =
      item ?? scroller.querySelector<HTMLElement>(`[data-start="${start}"]`);
    if (item !== null && isInView(item, scroller)) {
      steady += 1;
    } else {
      steady = 0;
      place?.scrollIntoView({ block: 'start' });
    }
    frames += 1;
    if (item !== null && (steady > STEADY_FRAMES || frames > MOST_FRAMES)) {
      done(item);
    } else if (frames <= MOST_FRAMES) {
      request = requestAnimationFrame(step);
    }
  };
  request = requestAnimationFrame(step);
  return () => cancelAnimationFrame(request);
}

/** Whether the beginning of an item is in the visible part of the list. */
function isInView(item: HTMLElement, scroller: HTMLElement): boolean {
  const { top } = item.getBoundingClientRect();
  const shown = scroller.getBoundingClientRect();
  return top >= shown.top - 1 && top < shown.bottom - 20;
}
