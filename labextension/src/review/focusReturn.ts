/** Returns the focus to where it was before it moved into a review control. Used by `ReviewController`. */

import type { IDisposable } from '@lumino/disposable';

const CONTROLS = '.shoulders-Pill, .shoulders-Review';

/** Remembers the element that had the focus. */
export class FocusReturn implements IDisposable {
  /** `fallback` focuses the current document. */
  constructor(private readonly fallback: () => void) {
    document.addEventListener('focusin', this.onFocus, true);
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  /** Return the focus, unless the user moved it. */
  giveBack(): void {
    const { activeElement } = document;
    const isElsewhere =
      activeElement !== null &&
      activeElement !== document.body &&
      !isControl(activeElement);
    if (isElsewhere) {
      return;
    }
    if (this.previous?.isConnected === true) {
      this.previous.focus({ preventScroll: true });
    } else {
      this.fallback();
    }
  }

  dispose(): void {
    this.disposed = true;
    document.removeEventListener('focusin', this.onFocus, true);
  }

  private readonly onFocus = (event: FocusEvent): void => {
    const { target, relatedTarget } = event;
    if (
      isControl(target) &&
      relatedTarget instanceof HTMLElement &&
      !isControl(relatedTarget)
    ) {
      this.previous = relatedTarget;
    }
  };

  private previous: HTMLElement | null = null;
  private disposed = false;
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(CONTROLS) !== null;
}
