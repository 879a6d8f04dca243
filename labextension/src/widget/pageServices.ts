/**
 * JupyterLab services that a panel in an output can find in its page: the widget manager of JupyterLab and Notebook has
 * the page's renderers, which give access to the typesetter and translator. Elsewhere formulas stay unrendered and
 * texts English. Used by `index`.
 */

import type {
  ILatexTypesetter,
  RenderMimeRegistry
} from '@jupyterlab/rendermime';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { IChatHost } from '../host/chatHost';
import { Typesetter } from '../lab/typesetter';
import { TRANSLATION_DOMAIN } from '../tokens';
import type { IModel } from './protocol';

/** Id of the style sheet that JupyterLab's typesetter adds to its page. */
const SHEET = 'MJX-CHTML-styles';

/** The services a panel uses. */
export interface IPageServices {
  readonly trans: TranslationBundle;
  readonly typeset: IChatHost['typeset'];
}

/** Find the services of a widget view; `tree` is its shadow tree. */
export function findPageServices(
  model: IModel,
  tree: ShadowRoot
): IPageServices {
  const { rendermime } = (model.widget_manager ?? {}) as {
    rendermime?: Partial<
      Pick<RenderMimeRegistry, 'latexTypesetter' | 'translator'>
    >;
  };
  return {
    trans: rendermime?.translator?.load(TRANSLATION_DOMAIN) ?? ENGLISH_STRINGS,
    typeset: typesetIn(tree, rendermime?.latexTypesetter ?? null)
  };
}

function typesetIn(
  tree: ShadowRoot,
  lab: ILatexTypesetter | null
): IChatHost['typeset'] {
  const typesetter = new Typesetter(lab);
  const style = document.createElement('style');
  tree.append(style);
  let known = 0;
  return async (element, tex, display) => {
    await typesetter.typeset(element, tex, display);
    // The page's rules do not apply in the shadow tree, and each new glyph adds some.
    const page = document.getElementById(SHEET);
    const rules =
      page instanceof HTMLStyleElement ? page.sheet?.cssRules : null;
    if (rules && rules.length !== known) {
      known = rules.length;
      style.textContent = Array.from(rules, rule => rule.cssText).join('\n');
    }
  };
}

function filled(text: string, args: readonly unknown[]): string {
  return text.replace(/%(\d+)/g, (place, number: string) => {
    const index = Number(number) - 1;
    return index in args ? String(args[index]) : place;
  });
}

/** English texts for pages without JupyterLab's translations; the members the views use. */
const ENGLISH_STRINGS = {
  __: (text: string, ...args: unknown[]) => filled(text, args),
  _n: (one: string, many: string, n: number, ...args: unknown[]) =>
    filled(n === 1 ? one : many, [n, ...args])
} as unknown as TranslationBundle;
