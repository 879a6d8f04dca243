/**
 * Theme of a panel in a notebook's output: JupyterLab's if the page has its variables; else our own colours, light or
 * dark like the page. Used by `index`.
 */

const OWN_COLOURS = 'shoulders-mod-own';
const DARK = 'shoulders-mod-dark';

/** Pages below this lightness are dark, of 255. */
const DARK_BELOW = 128;

/** Apply the page's theme to the panel, now and after changes; returns a function that stops this. */
export function followTheme(panel: HTMLElement, host: HTMLElement): () => void {
  const dress = (): void => {
    const own = variable(host, '--jp-layout-color1') === '';
    panel.classList.toggle(OWN_COLOURS, own);
    panel.classList.toggle(DARK, own && isDark(host));
    // JupyterLab sets this on the body, which rules in a shadow tree cannot match.
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

/** Whether the background of the panel is dark; without a painted background the system's setting decides. */
function isDark(host: HTMLElement): boolean {
  for (
    let element: HTMLElement | null = host;
    element !== null;
    element = element.parentElement
  ) {
    const light = lightness(getComputedStyle(element).backgroundColor);
    if (light !== null) {
      return light < DARK_BELOW;
    }
  }
  // An unpainted canvas is dark only if the page supports dark mode.
  return (
    matchMedia('(prefers-color-scheme: dark)').matches &&
    getComputedStyle(document.documentElement).colorScheme.includes('dark')
  );
}

/** Lightness of a colour, of 255; null if transparent. */
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
