/** Renders a part of a long list only near the viewport; otherwise keeps its height. Used by pages and long texts. */

import * as React from 'react';

import { mustStayRendered, type Nearness } from './pages';

/** Observes the parts of the surrounding list; null outside a list, where everything is rendered. */
export const NearnessContext = React.createContext<Nearness | null>(null);

/** Whether a part is rendered, and its placeholder height. */
export interface INearby {
  readonly place: React.RefObject<HTMLDivElement>;
  readonly shown: boolean;
  /** Height in px. */
  readonly height: number;
}

/** Whether a part is rendered: always with `stays`; before its first render it has a height of `guess` px. */
export function useNearby(stays: boolean, guess: number): INearby {
  const nearness = React.useContext(NearnessContext);
  const ref = React.useRef<HTMLDivElement>(null);
  const [near, setNear] = React.useState(stays || nearness === null);
  const [height, setRoom] = React.useState(guess);
  React.useEffect(() => {
    const { current } = ref;
    if (current === null || nearness === null) {
      return;
    }
    return nearness.watch(current, isNear => {
      if (!isNear && mustStayRendered(current)) {
        return;
      }
      // Many parts may become near at once; user input has priority.
      React.startTransition(() => {
        if (!isNear) {
          setRoom(current.offsetHeight);
        }
        setNear(isNear);
      });
    });
  }, [nearness]);
  return { place: ref, shown: near || stays, height };
}
