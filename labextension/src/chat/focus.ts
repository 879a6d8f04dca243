/** Where the focus goes when what had it is gone: used by lists whose rows come and go. */

/** Give the focus once what is being rendered is there, unless the user has put it elsewhere than `within` meanwhile. */
export function focusNext(
  within: () => HTMLElement | null,
  find: (place: HTMLElement) => HTMLElement | null
): void {
  requestAnimationFrame(() => {
    const place = within();
    const { activeElement } = document;
    const isFree =
      activeElement === null ||
      activeElement === document.body ||
      place?.contains(activeElement) === true;
    if (place !== null && isFree) {
      find(place)?.focus();
    }
  });
}
