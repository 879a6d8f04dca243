/** Detects that the machine slept, by a clock that advanced more than its timer. Used by the client plugin. */

/** Interval of the clock check, in ms. */
const CHECK_INTERVAL = 30_000;
/** A later check means sleep, in ms; browsers run timers of hidden pages once a minute. */
const SLEEP_THRESHOLD = 150_000;

/** Call `act` after each sleep; the returned function stops this. */
export function onWake(
  act: () => void,
  now: () => number = Date.now
): () => void {
  let looked = now();
  const timer = setInterval(() => {
    const before = looked;
    looked = now();
    if (looked - before > SLEEP_THRESHOLD) {
      act();
    }
  }, CHECK_INTERVAL);
  return () => clearInterval(timer);
}
