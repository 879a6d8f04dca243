/**
 * Keeps what the reader looks at where it is while something above it gets another height: for browsers that do not do
 * it by themselves, Safari among them. Used by `useStickToEnd`.
 */

/** Whether the browser does it. */
export function isAnchoring(): boolean {
  return typeof CSS === 'undefined' || CSS.supports('overflow-anchor', 'auto');
}

/** What is at the top of a view that scrolls. */
export class ScrollAnchor {
  constructor(private readonly scroller: Element) {}

  /** The reader scrolled: note what they see first, and where. */
  note(): void {
    this.keep(); // Something may have got another height since they began.
    this.seen = null;
    for (const element of this.scroller.querySelectorAll(ITEMS)) {
      if (this.offsetOf(element) + element.clientHeight > 0) {
        this.seen = { element, place: this.placeOf(element) };
        return;
      }
    }
  }

  /** Something got another height: bring what they saw back to where it was. */
  keep(): void {
    if (this.seen?.element.isConnected === true) {
      const { element, place } = this.seen;
      const grown = this.placeOf(element) - place;
      this.scroller.scrollTop += grown;
      this.seen = { element, place: place + grown };
    }
  }

  /** Below the top of the view. */
  private offsetOf(element: Element): number {
    const { top } = this.scroller.getBoundingClientRect();
    return element.getBoundingClientRect().top - top;
  }

  /** Below the beginning of all that can be scrolled to: scrolling does not change it. */
  private placeOf(element: Element): number {
    return this.offsetOf(element) + this.scroller.scrollTop;
  }

  private seen: { element: Element; place: number } | null = null;
}

const ITEMS = '.shoulders-Message';
