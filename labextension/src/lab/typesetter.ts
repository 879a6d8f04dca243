/** Formulas of the chat by the lab's own typesetter. Made by the chat's host; not loaded at start. */

import type { ILatexTypesetter } from '@jupyterlab/rendermime';

/** Formulas kept for when their text is drawn again, as it is with every word that follows them. */
const KEPT = 300;

/** What the typesetter must not have made of a formula, whatever stood in it. */
const UNWANTED =
  'a, img, script, iframe, link, style, merror, [data-mjx-error], [data-commandlinker-command]';

/** Typesets each formula once. */
export class Typesetter {
  constructor(private readonly lab: ILatexTypesetter | null) {}

  /** Put a formula into an element; one that cannot be typeset leaves it as it is. Never rejects. */
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

  /** Where the formula will stand, so that it has the size of the text around it. */
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
