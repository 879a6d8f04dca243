/**
 * Maps between the text of a Word document and the nodes that show it. The text has one line for each paragraph, with
 * all tracked changes accepted; deleted text and added controls are not part of it. Used by `PageView`.
 */

import type { TextRange, WordParagraph } from '../wire/generated';

/** Attribute of nodes that the page adds to the document. */
export const ASIDE = 'data-aside';

const NOT_TEXT = `del, [${ASIDE}]`;

/** A paragraph that is shown. */
interface IShownParagraph {
  readonly element: Element;
  /** Offset of its text. */
  readonly start: number;
  readonly text: string;
}

/** A piece of a text node. */
export interface ITextPiece {
  readonly node: Text;
  readonly from: number;
  readonly to: number;
}

/** The text of the paragraphs, one on each line. */
export function textOf(paragraphs: readonly WordParagraph[]): string {
  return paragraphs.map(({ text }) => oneLine(text)).join('\n');
}

/** A line break inside of a paragraph, as the server writes it too. */
const LINE_BREAK = '\u2028';

/** The same length, so that offsets in a paragraph stay. */
function oneLine(text: string): string {
  return text.replace(/\r|\n/g, LINE_BREAK);
}

/** The shown paragraphs of one document. */
export class PageText {
  constructor(body: Element, paragraphs: readonly WordParagraph[]) {
    for (const element of body.querySelectorAll<HTMLElement>(
      '[data-paragraph]'
    )) {
      const number = Number(element.getAttribute('data-paragraph'));
      this.elements.set(number, element);
    }
    let start = 0;
    for (const { number, text } of paragraphs) {
      const element = this.elements.get(number);
      if (element !== undefined) {
        this.shown.push({ element, start, text: oneLine(text) });
      }
      start += text.length + 1;
    }
  }

  /** The text between two places of the page; null without any. */
  rangeOf(selected: Range): TextRange | null {
    const touched = this.shown.filter(({ element }) =>
      selected.intersectsNode(element)
    );
    const [first, last] = [touched[0], touched.at(-1)];
    if (first === undefined || last === undefined) {
      return null;
    }
    const { startContainer, startOffset, endContainer, endOffset } = selected;
    const from = first.element.contains(startContainer)
      ? offsetIn(first, startContainer, startOffset)
      : 0;
    const to = last.element.contains(endContainer)
      ? offsetIn(last, endContainer, endOffset)
      : last.text.length;
    const range = { from: first.start + from, to: last.start + to };
    return range.from < range.to ? range : null;
  }

  /** The pieces of text nodes that show a range. */
  pieces({ from, to }: TextRange): ITextPiece[] {
    return this.shown
      .filter(({ start, text }) => start < to && start + text.length > from)
      .flatMap(paragraph => piecesIn(paragraph, from, to));
  }

  /** The element of the paragraph at an offset. */
  elementAt(offset: number): Element | null {
    const at = this.shown.filter(({ start }) => start <= offset).at(-1);
    return at?.element ?? null;
  }

  /** The element of a paragraph, by its number. */
  element(number: number): HTMLElement | null {
    return this.elements.get(number) ?? null;
  }

  private readonly shown: IShownParagraph[] = [];
  private readonly elements = new Map<number, HTMLElement>();
}

/** What shows characters: a text, or a line break, which is one character. */
type Shown = Text | HTMLBRElement;

/** What a paragraph shows, without a paragraph inside it. */
function shownNodes(element: Element): Shown[] {
  const walker = document.createTreeWalker(
    element,
    NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT
  );
  const nodes: Shown[] = [];
  while (walker.nextNode() !== null) {
    const node = walker.currentNode;
    const parent = node.parentElement;
    if (
      (node instanceof Text || node instanceof HTMLBRElement) &&
      parent?.closest('[data-paragraph]') === element &&
      parent.closest(NOT_TEXT) === null
    ) {
      nodes.push(node);
    }
  }
  return nodes;
}

function offsetIn(
  { element, text }: IShownParagraph,
  container: Node,
  offset: number
): number {
  const before = document.createRange();
  before.setStart(element, 0);
  before.setEnd(container, offset);
  const nodes = shownNodes(element);
  let count = 0;
  for (const node of nodes) {
    if (node === container) {
      count += offset;
      break;
    }
    if (!before.intersectsNode(node)) {
      break;
    }
    count += lengthOf(node);
  }
  return aligned(joined(nodes), text, count);
}

function piecesIn(
  { element, start, text }: IShownParagraph,
  first: number,
  end: number
): ITextPiece[] {
  const nodes = shownNodes(element);
  const seen = joined(nodes);
  const begin = aligned(text, seen, Math.max(0, first - start));
  const last = aligned(text, seen, Math.min(text.length, end - start));
  const pieces: ITextPiece[] = [];
  let at = 0;
  for (const node of nodes) {
    const from = Math.max(0, begin - at);
    const to = Math.min(lengthOf(node), last - at);
    if (node instanceof Text && from < to) {
      pieces.push({ node, from, to });
    }
    at += lengthOf(node);
  }
  return pieces;
}

function lengthOf(node: Shown): number {
  return node instanceof Text ? node.length : 1;
}

function joined(nodes: readonly Shown[]): string {
  return nodes
    .map(node => (node instanceof Text ? node.data : LINE_BREAK))
    .join('');
}

/** The offset in another rendering of a text: equal where both begin or end alike. */
function aligned(one: string, other: string, offset: number): number {
  if (one === other) {
    return Math.min(offset, other.length);
  }
  const shortest = Math.min(one.length, other.length);
  let start = 0;
  while (start < shortest && one[start] === other[start]) {
    start += 1;
  }
  let end = 0;
  while (end < shortest - start && one.at(-1 - end) === other.at(-1 - end)) {
    end += 1;
  }
  if (offset <= start) {
    return offset;
  }
  return one.length - offset <= end
    ? other.length - (one.length - offset)
    : Math.min(offset, other.length - end);
}
