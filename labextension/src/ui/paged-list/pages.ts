/**
 * The pages of a long list: what is far from the reader's place is not rendered, its room is kept. Pure but for
 * `Nearness`; used by `PagedList`.
 */

import { focused } from '../focus';

/** Items of a page: rendered, and taken away, together. */
export const PAGE = 6;

/** Pages at the end that are always rendered: where the agent writes and waits for answers. */
export const TAIL = 2;

/** How far from what is in view a page is rendered, in px. */
const REACH = 1200;

/** The room of an item that was never rendered, in px; about what a short exchange takes. */
const ROOM = 110;

/** Some items in their order, and the place of the first one. */
export interface IPage<T> {
  readonly start: number;
  readonly items: readonly T[];
}

/** Cut a list into pages; a page keeps its start while the list grows. */
export function pagesOf<T>(items: readonly T[]): IPage<T>[] {
  const pages: IPage<T>[] = [];
  for (let start = 0; start < items.length; start += PAGE) {
    pages.push({ start, items: items.slice(start, start + PAGE) });
  }
  return pages;
}

/** Whether two pages have the same items. */
export function isSamePage<T>(one: IPage<T>, other: IPage<T>): boolean {
  return (
    one.items.length === other.items.length &&
    one.items.every((item, index) => item === other.items[index])
  );
}

/** The room of a page that was never rendered, in px. */
export function roomOf(page: IPage<unknown>): number {
  return page.items.length * ROOM;
}

/** Whether a page must stay as it is: the reader is in it, opened something in it or typed into it. */
export function isHeld(page: Element): boolean {
  const selection = page.ownerDocument.getSelection();
  return (
    page.contains(focused()) ||
    (selection !== null &&
      !selection.isCollapsed &&
      selection.containsNode(page, true)) ||
    page.querySelector('[aria-expanded="true"], textarea, input') !== null
  );
}

/** Told whether a page is near what is in view. */
export type OnNearness = (near: boolean) => void;

/** Watches which pages of one list are near. */
export class Nearness {
  constructor(private readonly root: { readonly current: Element | null }) {}

  /** Watch a page until the function that is returned is called. */
  watch(page: Element, onNearness: OnNearness): () => void {
    this.observer ??= new IntersectionObserver(this.onSeen, {
      root: this.root.current,
      rootMargin: `${REACH}px 0px`
    });
    const { observer } = this;
    this.watched.set(page, onNearness);
    observer.observe(page);
    return () => {
      this.watched.delete(page);
      observer.unobserve(page);
    };
  }

  dispose(): void {
    this.observer?.disconnect();
    this.observer = null;
  }

  private readonly onSeen = (entries: IntersectionObserverEntry[]): void => {
    for (const { target, isIntersecting, rootBounds } of entries) {
      // A hidden list has no room: nothing is near, and nothing changes.
      if (rootBounds !== null && rootBounds.width > 0) {
        this.watched.get(target)?.(isIntersecting);
      }
    }
  };

  private readonly watched = new Map<Element, OnNearness>();
  private observer: IntersectionObserver | null = null;
}
