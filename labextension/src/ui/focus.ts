/** Moves the focus to elements that are rendered later. Used by lists and `focusComposer`. */

/** Frames to wait for an element to be rendered. */
const FRAMES = 30;

/** The focused element, also inside the shadow tree of a panel in a cell's output. */
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

/** Focus the element that `find` returns once it exists, unless the user moved the focus outside `within`. */
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

/** Focus the element that `find` returns once it exists, unless the user moves the focus first. */
export function focusOn(find: () => HTMLElement | null): void {
  let from: Element | null = null; // Set in the first frame: the page may move the focus until then.
  focusWhenThere(find, () => {
    const now = focused();
    from ??= now;
    return isFocusFree() || now === from;
  });
}

/** Look in every frame, because signals are rendered later, while `mayBeTaken` allows. */
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
