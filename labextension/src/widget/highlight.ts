/**
 * Highlights code in a notebook's output, for the languages common in notebooks; other code stays plain. Used by
 * `createWidgetHost`.
 */

import { classHighlighter, highlightTree } from '@lezer/highlight';
import { parser as javascript } from '@lezer/javascript';
import { parser as json } from '@lezer/json';
import type { LRParser } from '@lezer/lr';
import { parser as python } from '@lezer/python';

/** Longer code stays plain, because it is highlighted again with every streamed word. */
const LONGEST = 100_000;

function parserOf(language: string): LRParser | null {
  const name = language.toLowerCase();
  if (/^(python\d?|ipython\d?|py)$/.test(name)) {
    return python;
  }
  if (/^(json|jsonc|ipynb)$/.test(name)) {
    return json;
  }
  if (/^(javascript|js|jsx)$/.test(name)) {
    return javascript;
  }
  return /^(typescript|ts|tsx)$/.test(name)
    ? javascript.configure({ dialect: 'ts' })
    : null;
}

/** Put highlighted code into an element: text and spans with highlighter classes. */
export function highlight(
  code: string,
  language: string,
  into: HTMLElement
): void {
  const parser = code.length > LONGEST ? null : parserOf(language);
  if (parser === null) {
    into.textContent = code;
    return;
  }
  const made = document.createDocumentFragment();
  let at = 0;
  highlightTree(parser.parse(code), classHighlighter, (from, to, classes) => {
    made.append(code.slice(at, from), piece(code.slice(from, to), classes));
    at = to;
  });
  made.append(code.slice(at));
  into.replaceChildren(made);
}

function piece(text: string, classes: string): HTMLElement {
  const span = document.createElement('span');
  span.className = classes.replaceAll('tok-', 'shoulders-tok-');
  span.textContent = text;
  return span;
}
