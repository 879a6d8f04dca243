/**
 * Highlights code that may still grow: new text appears at once, colours follow later. Highlighting a long text again
 * with each word would take longer than a frame. Used by `Code`.
 */

/** Highlights code into an element; resolves when done. */
export type Paint = (code: string, into: HTMLElement) => Promise<void>;

/** Pause between two runs, as a multiple of the last run's time, with bounds in ms. */
const PAUSE_FACTOR = 15;
const MIN_PAUSE = 120;
const MAX_PAUSE = 1_500; // The first run may have loaded the language.

/** Longer code is highlighted only after a pause in its growth, in characters and ms. */
const LONG = 6_000;
const QUIET_TIME = 400;

/** Longer code is never highlighted, because a single run would be noticeable. In characters. */
const TOO_LONG = 40_000;

/** Shows growing code in an element. */
export class ProgressiveHighlighter {
  constructor(
    private readonly element: HTMLElement,
    private readonly paint: Paint
  ) {}

  /** Show code; a continuation of the previous code is appended. */
  show(code: string): void {
    const { shown } = this;
    this.shown = code;
    if (shown === '' || !code.startsWith(shown)) {
      this.replace([], code);
      void this.colour();
      return;
    }
    this.tail.appendData(code.slice(shown.length));
    this.schedule();
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.disposed = true;
  }

  /** Highlight after a pause; code that keeps growing waits for its end. */
  private schedule(): void {
    const isLong = this.shown.length > LONG;
    if (this.timer !== undefined && !isLong) {
      return;
    }
    clearTimeout(this.timer);
    const rest = Math.min(
      MAX_PAUSE,
      Math.max(MIN_PAUSE, PAUSE_FACTOR * this.took)
    );
    this.timer = setTimeout(
      () => void this.colour(),
      isLong ? Math.max(QUIET_TIME, rest) : rest
    );
  }

  private async colour(): Promise<void> {
    this.timer = undefined;
    const { shown: code } = this;
    if (code.length > TOO_LONG) {
      return;
    }
    const into = document.createElement('code');
    const began = performance.now();
    try {
      await this.paint(code, into);
    } catch (error) {
      console.warn('No colours for this code:', error);
      return;
    }
    this.took = performance.now() - began;
    const isCurrent = !this.disposed && this.shown.startsWith(code);
    if (isCurrent && into.textContent === code) {
      this.replace([...into.childNodes], this.shown.slice(code.length));
    }
  }

  private replace(painted: readonly ChildNode[], rest: string): void {
    this.tail = document.createTextNode(rest);
    this.element.replaceChildren(...painted, this.tail);
  }

  private shown = '';
  private tail = document.createTextNode('');
  private timer: ReturnType<typeof setTimeout> | undefined;
  private took = 0;
  private disposed = false;
}
