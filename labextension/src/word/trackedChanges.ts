/** Names the authors of tracked changes on a Word page. Used by `PageView`. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { ASIDE } from './pageText';

/** Give every change a title, and name each author once in a paragraph. */
export function showAuthors(body: Element, trans: TranslationBundle): void {
  const named = new WeakMap<Element, Set<string>>();
  for (const change of body.querySelectorAll<HTMLElement>('ins, del')) {
    const author = change.getAttribute('data-author') ?? '';
    const date = dateOf(change.getAttribute('data-date') ?? '');
    change.title = [titleOf(change, author, trans), date]
      .filter(text => text !== '')
      .join(', ');
    const paragraph = change.closest('[data-paragraph]') ?? body;
    const known = named.get(paragraph) ?? new Set<string>();
    named.set(paragraph, known);
    if (author !== '' && !known.has(author) && !hasFollower(change, author)) {
      known.add(author);
      change.after(tagOf(author));
    }
  }
}

function titleOf(
  { tagName }: Element,
  author: string,
  trans: TranslationBundle
): string {
  const isAdded = tagName === 'INS';
  if (author === '') {
    return isAdded ? trans.__('Inserted') : trans.__('Deleted');
  }
  return isAdded
    ? trans.__('Inserted by %1', author)
    : trans.__('Deleted by %1', author);
}

/** Whether a change of the same author follows at once: the name is shown after the last of them. */
function hasFollower(change: Element, author: string): boolean {
  const next = change.nextSibling;
  return (
    next instanceof HTMLElement &&
    /^(?:INS|DEL)$/.test(next.tagName) &&
    next.getAttribute('data-author') === author
  );
}

function dateOf(text: string): string {
  const date = new Date(text);
  return text === '' || Number.isNaN(date.getTime())
    ? ''
    : date.toLocaleDateString();
}

function tagOf(author: string): HTMLElement {
  const tag = document.createElement('span');
  tag.className = 'shoulders-Word-author';
  tag.setAttribute(ASIDE, '');
  tag.textContent = author;
  return tag;
}
