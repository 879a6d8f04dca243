/** Moves tabs by dragging; the tab follows the pointer. Used by `Tabs`. */

import * as React from 'react';

import type { IConversations } from '../model/conversations/interface';

/** Movement that still counts as a click, in px. */
const CLICK_DISTANCE = 6;

interface IDrag {
  readonly key: string;
  readonly x: number;
  moved: boolean;
}

/** Handlers for the list of tabs. */
export interface ITabDrag {
  onPointerDown: (event: React.PointerEvent<HTMLElement>) => void;
  onPointerMove: (event: React.PointerEvent<HTMLElement>) => void;
  onPointerUp: () => void;
  onPointerCancel: () => void;
}

/** The element's children are the tabs, in order. */
export function useTabDrag(conversations: IConversations): ITabDrag {
  const drag = React.useRef<IDrag | null>(null);
  const end = (): void => {
    drag.current = null;
  };
  return {
    onPointerDown: ({ button, clientX, currentTarget, target }) => {
      const at = tabAt(currentTarget, tab => tab.contains(target as Node));
      const tab = conversations.tabs[at];
      const isHandle =
        target instanceof Element && target.closest('[role=tab]') !== null;
      drag.current =
        button === 0 && isHandle && tab !== undefined
          ? { key: tab.key, x: clientX, moved: false }
          : null;
    },
    onPointerMove: ({ clientX, currentTarget, pointerId }) => {
      const { current } = drag;
      if (current === null) {
        return;
      }
      if (!current.moved && Math.abs(clientX - current.x) > CLICK_DISTANCE) {
        current.moved = true;
        currentTarget.setPointerCapture(pointerId); // Suppresses the click on a tab.
      }
      const from = conversations.tabs.findIndex(tab => tab.key === current.key);
      const to = current.moved
        ? targetIndex(currentTarget, from, clientX)
        : from;
      if (from >= 0 && to !== from) {
        conversations.shift(current.key, to - from);
      }
    },
    onPointerUp: end,
    onPointerCancel: end
  };
}

/** The index for the tab: that of the tab whose middle the pointer passed. */
function targetIndex(list: HTMLElement, from: number, x: number): number {
  const isReversed = getComputedStyle(list).direction === 'rtl';
  const over = tabAt(list, tab => {
    const { left, right } = tab.getBoundingClientRect();
    return left <= x && x < right;
  });
  const box = list.children[over]?.getBoundingClientRect();
  if (box === undefined) {
    return from;
  }
  const isBeyond = x > box.left + box.width / 2 !== isReversed;
  return over > from === isBeyond ? over : from;
}

function tabAt(list: HTMLElement, fits: (tab: Element) => boolean): number {
  return [...list.children].findIndex(fits);
}
