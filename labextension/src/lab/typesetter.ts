/**
 * Typesets formulas of the chat with JupyterLab's typesetter. Made by the
 * chat's host; not loaded at start-up.
 */

import type { ILatexTypesetter } from '@jupyterlab/rendermime';

/**
 * Number of cached formulas: their text is rendered again with every streamed
 * token.
 */
const KEPT = 300;

/** Elements and attributes that must not be in a typeset formula. */
const UNWANTED =
  'a, img, script, iframe, link, style, merror, [data-mjx-error], [data-commandlinker-command]';

/** Typesets each formula once. */
export class Typesetter {
  constructor(private readonly lab: ILatexTypesetter | null) {}

  /**
   * Typeset a formula into an element; leaves the element alone if that fails.
   * Never rejects.
   */
  readonly typeset = async (
    element: HTMLElement,
    tex: string,
    display: boolean
  ): Promise<void> => {
    if (this.lab === null) {
      return;
    }
    const key = `${display ? 'block' : 'line'} ${tex}`;
    const made =
      this.made.get(key) ?? this.make(this.lab, element, tex, display);
    this.keep(key, made);
    const formula = await made;
    if (formula !== null) {
      element.replaceChildren(formula.cloneNode(true));
    }
  };

  private keep(key: string, made: Promise<Node | null>): void {
    this.made.delete(key);
    this.made.set(key, made);
    const [oldest] = this.made.keys();
    if (this.made.size > KEPT && oldest !== undefined) {
      this.made.delete(oldest);
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

  private readonly made = new Map<string, Promise<Node | null>>();
}
