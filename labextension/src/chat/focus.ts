/** Where the focus goes when what had it is gone, or the user goes on elsewhere: used by lists, and by `focusField`. */

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
    from => within()?.contains(from) === true
  );
}

/** Give the focus to what `find` finds, once it is there, unless the user puts it elsewhere while that is awaited. */
export function focusOn(find: () => HTMLElement | null): void {
  let first: Element | null = null;
  focusWhenThere(find, from => {
    first ??= from;
    return from === first;
  });
}

/** Look in every frame, as signals are rendered some time later; `mayTake` says whether the focus may be taken. */
function focusWhenThere(
  find: () => HTMLElement | null,
  mayTake: (from: Element | null) => boolean,
  frames = FRAMES
): void {
  requestAnimationFrame(() => {
    if (!isFocusFree() && !mayTake(focused())) {
      return;
    }
    const found = find();
    if (found !== null) {
      found.focus();
    } else if (frames > 1) {
      focusWhenThere(find, mayTake, frames - 1);
    }
  });
}
