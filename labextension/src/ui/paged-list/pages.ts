/**
 * The pages of a long list: distant ones are not rendered but keep their height. Pure except for `Nearness`; used by
 * `PagedList`.
 */

import { focused } from '../focus';

/** Items per page; a page is rendered and removed as a whole. */
export const PAGE = 6;

/** Pages at the end that are always rendered, where the agent writes. */
export const TAIL = 2;

/** Distance from the viewport within which pages are rendered, in px. */
const MARGIN = 1200;

/** Estimated height of an item before its first render, in px; about a short exchange. */
const ITEM_HEIGHT = 110;

/** Consecutive items and the index of the first one. */
export interface IPage<T> {
  readonly start: number;
  readonly items: readonly T[];
}

/** Divide a list into pages; a page keeps its start while the list grows. */
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

/** Estimated height of a page that was never rendered, in px. */
export function estimatedHeight(page: IPage<unknown>): number {
  return page.items.length * ITEM_HEIGHT;
}

/** Whether a page must stay rendered: it has the focus, or something opened or typed in it. */
export function mustStayRendered(page: Element): boolean {
  const selection = page.ownerDocument.getSelection();
  return (
    page.contains(focused()) ||
    (selection !== null &&
      !selection.isCollapsed &&
      selection.containsNode(page, true)) ||
    page.querySelector('[aria-expanded="true"], textarea, input') !== null
  );
}

/** Receives whether a page is near the viewport. */
export type OnNearness = (near: boolean) => void;

/** Observes which pages of one list are near. */
export class Nearness {
  constructor(private readonly root: { readonly current: Element | null }) {}

  /** Observe a page until the returned function is called. */
  watch(page: Element, onNearness: OnNearness): () => void {
    this.observer ??= new IntersectionObserver(this.onSeen, {
      root: this.root.current,
      rootMargin: `${MARGIN}px 0px`
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
      // A hidden list has no size: nothing would be near.
      if (rootBounds !== null && rootBounds.width > 0) {
        this.watched.get(target)?.(isIntersecting);
      }
    }
  };

  private readonly watched = new Map<Element, OnNearness>();
  private observer: IntersectionObserver | null = null;
}
