/** Typesets formulas of the chat with JupyterLab's typesetter. Made by the chat's host; not loaded at start-up. */

import type { ILatexTypesetter } from '@jupyterlab/rendermime';

/** Number of cached formulas: their text is rendered again with every streamed token. */
const MAX_CACHED = 300;

/** Elements and attributes that must not be in a typeset formula. */
const UNWANTED =
  'a, img, script, iframe, link, style, merror, [data-mjx-error], [data-commandlinker-command]';

/** Typesets each formula once. */
export class Typesetter {
  constructor(private readonly lab: ILatexTypesetter | null) {}

  /** Typeset a formula into an element; leaves the element alone if that fails. Never rejects. */
  readonly typeset = async (
    element: HTMLElement,
    tex: string,
    display: boolean
  ): Promise<void> => {
    if (this.lab === null) {
      return;
    }
    const key = `${display ? 'block' : 'line'} ${tex}`;
    const cached =
      this.cached.get(key) ?? this.make(this.lab, element, tex, display);
    this.cache(key, cached);
    const formula = await cached;
    if (formula !== null) {
      element.replaceChildren(formula.cloneNode(true));
    }
  };

  private cache(key: string, made: Promise<Node | null>): void {
    this.cached.delete(key);
    this.cached.set(key, made);
    const [oldest] = this.cached.keys();
    if (this.cached.size > MAX_CACHED && oldest !== undefined) {
      this.cached.delete(oldest);
    }
  }

  /** Typeset at the final position, for the size of the surrounding text. */
  private async make(
    lab: ILatexTypesetter,
    element: HTMLElement,
    tex: string,
    display: boolean
  ): Promise<Node | null> {
    const work = document.createElement('span');
    work.className = 'shoulders-Math-work';
    work.textContent = display ? `\\[${tex}\\]` : `\\(${tex}\\)`;
    element.append(work);
    try {
      await lab.typeset(work);
    } catch (error) {
      console.warn('A formula cannot be typeset:', error);
    }
    work.remove();
    const formula = work.querySelector('mjx-container');
    return formula === null || work.querySelector(UNWANTED) !== null
      ? null
      : formula;
  }

  private readonly cached = new Map<string, Promise<Node | null>>();
}
