/** Renders a part of a long list only while it is near the reader; its room is kept. Used by pages and long texts. */

import * as React from 'react';

import { isHeld, type Nearness } from './pages';

/** What watches the parts of the list around; null outside of one: there all is rendered. */
export const NearnessContext = React.createContext<Nearness | null>(null);

/** A part of a list, and the room it is given while it is not rendered. */
export interface INearby {
  readonly place: React.RefObject<HTMLDivElement>;
  readonly shown: boolean;
  /** Height in px. */
  readonly room: number;
}

/** Whether a part is rendered: always with `stays`; one that was never rendered is given `guess` px. */
export function useNearby(stays: boolean, guess: number): INearby {
  const nearness = React.useContext(NearnessContext);
  const place = React.useRef<HTMLDivElement>(null);
  const [near, setNear] = React.useState(stays || nearness === null);
  const [room, setRoom] = React.useState(guess);
  React.useEffect(() => {
    const { current } = place;
    if (current === null || nearness === null) {
      return;
    }
    return nearness.watch(current, isNear => {
      if (!isNear && isHeld(current)) {
        return;
      }
      // Many parts may come near at once: what the user does goes first.
      React.startTransition(() => {
        if (!isNear) {
          setRoom(current.offsetHeight);
        }
        setNear(isNear);
      });
    });
  }, [nearness]);
  return { place, shown: near || stays, room };
}
