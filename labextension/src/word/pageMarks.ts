/** Draws marks of threads on ranges of a Word page, and notes after its paragraphs. Used by `PageView`. */

import type {
  IPageMark,
  IParagraphNote,
  IWordPage
} from '../live-documents/wordPages';
import { ASIDE, type ITextPiece, type PageText } from './pageText';

const MARK = 'shoulders-ThreadText';
const DOT = 'shoulders-ThreadDot';
const NOTE = 'shoulders-Word-note';
const NOTED = 'data-noted';

/** Equal for equal marks. */
export function keyOfMarks(marks: readonly IPageMark[]): string {
  return JSON.stringify(
    marks.map(({ id, from, to, classes, label }) => [
      ...[id, from, to],
      ...[classes, label]
    ])
  );
}

/** Replace the marks of a page. */
export function drawMarks(
  body: Element,
  text: PageText,
  marks: readonly IPageMark[],
  opened: Parameters<IWordPage['showMarks']>[1]
): void {
  body.querySelectorAll(`.${DOT}`).forEach(dot => dot.remove());
  body.querySelectorAll(`.${MARK}`).forEach(unwrap);
  body.normalize();
  for (const mark of marks) {
    const nodes = text.pieces(mark).map(piece => wrap(piece, mark));
    const last = nodes.at(-1);
    if (last !== undefined) {
      const open = (): void => opened([mark.id], last.getBoundingClientRect());
      nodes.forEach(node => node.addEventListener('click', open));
      last.after(dotOf(mark, open));
    }
  }
}

/** Replace the notes of a page. */
export function drawNotes(
  body: Element,
  text: PageText,
  notes: readonly IParagraphNote[]
): void {
  const wanted = new Set<Element>(notes.map(({ node }) => node));
  body.querySelectorAll(`.${NOTE}`).forEach(each => {
    if (!wanted.has(each)) {
      each.remove();
    }
  });
  body.querySelectorAll(`[${NOTED}]`).forEach(each => {
    each.classList.remove(each.getAttribute(NOTED) ?? '');
    each.removeAttribute(NOTED);
  });
  for (const { paragraph, node, className } of notes) {
    const element = text.element(paragraph);
    if (element !== null) {
      element.classList.add(className);
      element.setAttribute(NOTED, className);
      node.classList.add(NOTE);
      node.setAttribute(ASIDE, '');
      place(node, element);
    }
  }
}

/** Put a note after a paragraph; in a list or table it stays inside of the item or cell. */
function place(node: HTMLElement, paragraph: Element): void {
  const isItem = /^(?:LI|TD|TH)$/.test(paragraph.tagName);
  const isThere = isItem
    ? paragraph.lastElementChild === node
    : paragraph.nextElementSibling === node;
  if (isThere) {
    return; // Moving it would take the focus away.
  }
  if (isItem) {
    paragraph.append(node);
  } else {
    paragraph.after(node);
  }
}

function wrap(
  { node, from, to }: ITextPiece,
  { classes }: IPageMark
): HTMLElement {
  const rest = from === 0 ? node : node.splitText(from);
  if (to - from < rest.length) {
    rest.splitText(to - from);
  }
  const mark = document.createElement('span');
  mark.className = `${MARK} ${classes}`;
  rest.replaceWith(mark);
  mark.append(rest);
  return mark;
}

function unwrap(mark: Element): void {
  mark.replaceWith(...mark.childNodes);
}

function dotOf({ classes, label }: IPageMark, open: () => void): HTMLElement {
  const dot = document.createElement('button');
  dot.type = 'button';
  dot.className = `${DOT} ${classes}`;
  dot.title = label;
  dot.setAttribute('aria-label', label);
  dot.setAttribute(ASIDE, '');
  dot.addEventListener('click', open);
  return dot;
}
