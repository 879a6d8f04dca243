/** The comments of a Word document beside the page, and their marks in it. Used by `PageView`. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { flashElement } from '../follow/flash';
import { legible } from '../text/hiddenCharacters';
import type { WordComment } from '../wire/generated';
import { ASIDE } from './pageText';

export class CommentCards {
  constructor(
    private readonly body: HTMLElement,
    private readonly trans: TranslationBundle
  ) {
    this.node.className = 'shoulders-Word-comments';
    this.node.setAttribute('aria-label', trans.__('Comments'));
    this.node.hidden = true;
  }

  readonly node = document.createElement('aside');

  /** Show these comments in document order. */
  show(comments: readonly WordComment[]): void {
    this.body
      .querySelectorAll('.shoulders-Word-commentMark')
      .forEach(mark => mark.remove());
    const list = document.createElement('ol');
    comments.forEach((comment, index) => {
      const card = this.cardOf(comment, index + 1);
      this.mark(comment, index + 1, card);
      const item = document.createElement('li');
      item.append(card);
      list.append(item);
    });
    this.node.replaceChildren(list);
    this.node.hidden = comments.length === 0;
  }

  /** A card; a click shows the place of the comment. */
  private cardOf(comment: WordComment, number: number): HTMLButtonElement {
    const card = document.createElement('button');
    card.type = 'button';
    card.className = 'shoulders-Word-comment';
    card.append(
      span('shoulders-Word-commentNumber', String(number)),
      span(
        'shoulders-Word-commentAuthor',
        legible(comment.author) || this.trans.__('Unknown author')
      ),
      span('shoulders-Word-commentText', legible(comment.text))
    );
    card.addEventListener('click', () => {
      const target = this.rangeOf(comment)[0] ?? this.paragraphOf(comment);
      target?.scrollIntoView({ block: 'center' });
      this.rangeOf(comment).forEach(flashElement);
    });
    return card;
  }

  /** Mark the range of a comment and put a button that leads to its card after it. */
  private mark(
    comment: WordComment,
    number: number,
    card: HTMLButtonElement
  ): void {
    const nodes = this.rangeOf(comment);
    nodes.forEach(node => node.classList.add('shoulders-Word-commented'));
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'shoulders-Word-commentMark';
    button.setAttribute(ASIDE, '');
    button.textContent = String(number);
    const author = legible(comment.author);
    const label =
      author === ''
        ? this.trans.__('Comment %1', number)
        : this.trans.__('Comment %1 by %2', number, author);
    button.title = label;
    button.setAttribute('aria-label', label);
    button.addEventListener('click', () => {
      card.scrollIntoView({ block: 'nearest' });
      card.focus({ preventScroll: true });
      flashElement(card);
    });
    const last = nodes.at(-1);
    if (last === undefined) {
      this.paragraphOf(comment)?.append(button);
    } else {
      last.after(button);
    }
  }

  private rangeOf({ id }: WordComment): HTMLElement[] {
    return [
      ...this.body.querySelectorAll<HTMLElement>('[data-comment]')
    ].filter(node =>
      node.getAttribute('data-comment')?.split(' ').includes(id)
    );
  }

  private paragraphOf({ paragraph }: WordComment): Element | null {
    return this.body.querySelector(
      `[data-paragraph="${Math.trunc(paragraph)}"]`
    );
  }
}

function span(className: string, text: string): HTMLElement {
  const made = document.createElement('span');
  made.className = className;
  made.textContent = text;
  return made;
}
