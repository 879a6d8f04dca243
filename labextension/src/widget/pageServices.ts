/**
 * What of the lab a panel in an output finds in its page: the widget manager of the lab and of Notebook has the
 * renderers of the page, and these know its typesetter and its language. Where they are not, formulas stay as they were
 * written and words are English. Used by `index`.
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

/** The style sheet that the lab's typesetter writes into its page. */
const SHEET = 'MJX-CHTML-styles';

/** What a panel uses of it. */
export interface IPageServices {
  readonly trans: TranslationBundle;
  readonly typeset: IChatHost['typeset'];
}

/** Look around the view of a widget; `tree` is the shadow tree it is in. */
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
    // Rules of the page do not hold in the tree. There are more with each sign that is new.
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

/** What of the lab's bundle the views use. */
const ENGLISH_STRINGS = {
  __: (text: string, ...args: unknown[]) => filled(text, args),
  _n: (one: string, many: string, n: number, ...args: unknown[]) =>
    filled(n === 1 ? one : many, [n, ...args])
} as unknown as TranslationBundle;
