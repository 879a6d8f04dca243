/**
 * Scroll anchoring for browsers without it, such as Safari: keeps the visible content in place when content above it
 * changes height. Used by `useStickToEnd`.
 */

/** Whether the browser supports it. */
export function isAnchoring(): boolean {
  return typeof CSS === 'undefined' || CSS.supports('overflow-anchor', 'auto');
}

/** The element at the top of a scrolling view. */
export class ScrollAnchor {
  constructor(private readonly scroller: Element) {}

  /** Remember the first visible element and its position after the reader scrolled. */
  remember(): void {
    this.restore(); // Heights may have changed since the scroll began.
    this.seen = null;
    for (const element of this.scroller.querySelectorAll(ITEMS)) {
      if (this.offsetOf(element) + element.clientHeight > 0) {
        this.seen = { element, place: this.positionOf(element) };
        return;
      }
    }
  }

  /** Restore the position of the remembered element after a height changed. */
  restore(): void {
    if (this.seen?.element.isConnected === true) {
      const { element, place } = this.seen;
      const grown = this.positionOf(element) - place;
      this.scroller.scrollTop += grown;
      this.seen = { element, place: place + grown };
    }
  }

  /** Distance from the top of the view. */
  private offsetOf(element: Element): number {
    const { top } = this.scroller.getBoundingClientRect();
    return element.getBoundingClientRect().top - top;
  }

  /** Distance from the start of the scrollable content; does not change with scrolling. */
  private positionOf(element: Element): number {
    return this.offsetOf(element) + this.scroller.scrollTop;
  }

  private seen: { element: Element; place: number } | null = null;
}

const ITEMS = '.shoulders-Message';
