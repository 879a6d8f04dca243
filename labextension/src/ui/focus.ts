/** Where the focus goes when what had it is gone, or the user goes on elsewhere: used by lists, and by `focusComposer`. */

/** Frames that what is being rendered may take to come. */
const FRAMES = 30;

/** What has the focus: a panel in a cell's output stands in a shadow tree, of which the page sees only the root. */
export function focused(): Element | null {
  let found = document.activeElement;
  while (found?.shadowRoot?.activeElement) {
    found = found.shadowRoot.activeElement;
  }
  return found;
}

/** Whether nothing has the focus. */
export function isFocusFree(): boolean {
  const found = focused();
  return found === null || found === document.body;
}

/** Give the focus to what `find` finds, once it is there, unless the user has put it elsewhere than `within` meanwhile. */
export function focusNext(
  within: () => HTMLElement | null,
  find: (place: HTMLElement) => HTMLElement | null
): void {
  focusWhenThere(
    () => {
      const place = within();
      return place === null ? null : find(place);
    },
    () => isFocusFree() || within()?.contains(focused()) === true
  );
}

/** Give the focus to what `find` finds, once it is there, unless the user puts it elsewhere while that is awaited. */
export function focusOn(find: () => HTMLElement | null): void {
  let from: Element | null = null; // As the first frame finds it: the page may have put it elsewhere until then.
  focusWhenThere(find, () => {
    const now = focused();
    from ??= now;
    return isFocusFree() || now === from;
  });
}

/** Look in every frame, as signals are rendered some time later, while the focus `mayBeTaken`. */
function focusWhenThere(
  find: () => HTMLElement | null,
  mayBeTaken: () => boolean,
  frames = FRAMES
): void {
  requestAnimationFrame(() => {
    if (!mayBeTaken()) {
      return;
    }
    const found = find();
    if (found !== null) {
      found.focus();
    } else if (frames > 1) {
      focusWhenThere(find, mayBeTaken, frames - 1);
    }
  });
}
