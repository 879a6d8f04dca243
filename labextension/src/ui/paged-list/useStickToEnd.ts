/** Keeps the end of a growing list in view while the reader is there. Used by the list of messages. */

import * as React from 'react';

import { ScrollAnchor, isAnchoring } from './scrollAnchor';

/** Distance that still counts as the end, in px. */
const END_DISTANCE = 32;

/** Refs and state of a list that follows its end. */
export interface IStickToEnd {
  readonly scroller: React.RefObject<HTMLDivElement>;
  readonly content: React.RefObject<HTMLDivElement>;
  /** Whether the end is more than one view height away. */
  readonly isAway: boolean;
  readonly toEnd: () => void;
}

/** Follow the end of the content; sending a message scrolls to it. */
export function useStickToEnd(sent: number): IStickToEnd {
  const scroller = React.useRef<HTMLDivElement>(null);
  const content = React.useRef<HTMLDivElement>(null);
  const follows = React.useRef(true);
  const [isAway, setAway] = React.useState(false);
  const toEnd = React.useCallback(() => {
    follows.current = true;
    const element = scroller.current;
    if (element !== null) {
      element.scrollTop = element.scrollHeight;
    }
  }, []);
  React.useLayoutEffect(() => {
    const element = scroller.current;
    const inner = content.current;
    if (element === null || inner === null) {
      return;
    }
    const anchor = isAnchoring() ? null : new ScrollAnchor(element);
    let before = element.scrollTop;
    const onScroll = (): void => {
      const { scrollTop } = element;
      const left = element.scrollHeight - scrollTop - element.clientHeight;
      // Only scrolling up leaves the end; focusing a field may scroll down a little.
      follows.current =
        left < END_DISTANCE || (follows.current && scrollTop >= before);
      before = scrollTop;
      setAway(left > element.clientHeight);
      anchor?.remember();
    };
    const onGrowth = (): void => {
      if (follows.current) {
        toEnd();
      } else {
        anchor?.restore();
      }
    };
    const observer = new ResizeObserver(onGrowth);
    observer.observe(inner);
    observer.observe(element);
    element.addEventListener('scroll', onScroll, { passive: true });
    toEnd();
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', onScroll);
    };
  }, [toEnd]);
  React.useLayoutEffect(() => {
    if (sent > 0) {
      toEnd();
    }
  }, [sent, toEnd]);
  return { scroller, content, isAway, toEnd };
}
