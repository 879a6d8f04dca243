/**
 * How a panel in a notebook's output looks: as the lab, where the page has the lab's variables; else in our own colours,
 * light or dark as the page is. Used by `index`.
 */

const OWN = 'shoulders-mod-own';
const DARK = 'shoulders-mod-dark';

/** Darker pages than this are dark, of 255. */
const MIDDLE = 128;

/** Dress the panel as the page is, now and whenever that changes; returns what ends it. */
export function followTheme(panel: HTMLElement, host: HTMLElement): () => void {
  const dress = (): void => {
    const own = variable(host, '--jp-layout-color1') === '';
    panel.classList.toggle(OWN, own);
    panel.classList.toggle(DARK, own && isDark(host));
    // The lab says it at the body, which rules in a shadow tree do not see.
    const light = document.body.dataset.jpThemeLight ?? String(!isDark(host));
    panel.dataset.jpThemeLight = light;
  };
  const watcher = new MutationObserver(dress);
  for (const element of [document.documentElement, document.body]) {
    watcher.observe(element, { attributes: true });
  }
  watcher.observe(document.head, { childList: true });
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', dress);
  dress();
  return () => {
    watcher.disconnect();
    system.removeEventListener('change', dress);
  };
}

function variable(element: HTMLElement, name: string): string {
  return getComputedStyle(element).getPropertyValue(name).trim();
}

/** Whether what the panel stands on is dark; a page that paints nothing is as the system is. */
function isDark(host: HTMLElement): boolean {
  for (
    let element: HTMLElement | null = host;
    element !== null;
    element = element.parentElement
  ) {
    const light = lightness(getComputedStyle(element).backgroundColor);
    if (light !== null) {
      return light < MIDDLE;
    }
  }
  // A canvas that nothing is painted on is dark only where the page says that it can be.
  return (
    matchMedia('(prefers-color-scheme: dark)').matches &&
    getComputedStyle(document.documentElement).colorScheme.includes('dark')
  );
}

/** How light a colour is, of 255; null of one that is seen through. */
export function lightness(colour: string): number | null {
  const [red, green, blue, alpha = 1] = (
    /^rgba?\(([^)]*)\)/.exec(colour)?.[1] ?? ''
  )
    .split(/[\s,/]+/)
    .map(Number);
  if (red === undefined || green === undefined || blue === undefined) {
    return null;
  }
  return alpha < 0.5 ? null : 0.299 * red + 0.587 * green + 0.114 * blue;
}
