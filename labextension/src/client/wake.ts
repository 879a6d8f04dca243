/** Notices that the machine was asleep: its clock went on while no timer ran. Used by the client plugin. */

/** Between two looks at the clock, in ms. */
const EVERY = 30_000;
/** A look later than this tells of a sleep; browsers let hidden pages look once a minute, in ms. */
const ASLEEP = 150_000;

/** Call `act` after each sleep; the result ends that. */
export function onWake(
  act: () => void,
  now: () => number = Date.now
): () => void {
  let looked = now();
  const timer = setInterval(() => {
    const before = looked;
    looked = now();
    if (looked - before > ASLEEP) {
      act();
    }
  }, EVERY);
  return () => clearInterval(timer);
}
