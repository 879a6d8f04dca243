/** Batches notifications so that a view renders at most once per animation frame. Used by the stores. */

/** Schedules a callback once. */
export type Schedule = (callback: () => void) => void;

/** Longest delay in a hidden page, which gets no animation frames, in ms. */
const HIDDEN_DELAY = 200;

/** Schedule before the next frame; on a timer while the page is hidden. */
export const nextFrame: Schedule = callback => {
  let done = false;
  const once = (): void => {
    if (!done) {
      done = true;
      callback();
    }
  };
  requestAnimationFrame(once);
  setTimeout(once, HIDDEN_DELAY);
};

/** Return a function that runs `act` once per frame, however often it is called. */
export function oncePerFrame(
  act: () => void,
  schedule: Schedule = nextFrame
): () => void {
  let pending = false;
  return () => {
    if (!pending) {
      pending = true;
      schedule(() => {
        pending = false;
        act();
      });
    }
  };
}
