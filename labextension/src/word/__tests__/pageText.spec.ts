import { describe, expect, it } from 'vitest';

import { sanitiseDocument } from '../../chat/markdown/sanitise';
import type { IPageMark } from '../../live-documents/wordPages';
import type { WordParagraph } from '../../wire/generated';
import { drawMarks, drawNotes } from '../pageMarks';
import { PageText, textOf } from '../pageText';

function paragraphs(...texts: string[]): WordParagraph[] {
  return texts.map((text, index) => ({
    number: index + 1,
    style: 'Normal',
    text,
    original: text,
    has_changes: false
  }));
}

/** A page with the given HTML. */
function page(html: string, ...texts: string[]) {
  const body = document.createElement('div');
  body.append(sanitiseDocument(html));
  document.body.replaceChildren(body);
  const all = paragraphs(...texts);
  return { body, text: new PageText(body, all), whole: textOf(all) };
}

const HTML =
  '<h1 data-paragraph="1">Results</h1>' +
  '<p data-paragraph="2">We <b>saw</b> <del data-author="Ada">many</del>' +
  '<ins data-author="Ada">few</ins> cells.</p>' +
  '<table><tr><td><p data-paragraph="3">In a table</p></td></tr></table>';
const TEXTS = ['Results', 'We saw few cells.', 'In a table'] as const;

function textNode(root: Element, data: string): Text {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() !== null) {
    if ((walker.currentNode as Text).data === data) {
      return walker.currentNode as Text;
    }
  }
  throw new Error(`no text ${data}`);
}

function select(from: [Node, number], to: [Node, number]): Range {
  const range = document.createRange();
  range.setStart(...from);
  range.setEnd(...to);
  return range;
}

const MARK: Omit<IPageMark, 'from' | 'to'> = {
  id: 't1',
  classes: 'shoulders-mod-idle',
  label: 'A thread'
};

describe('the text of a page', () => {
  it('maps a selection over formatting and tracked changes', () => {
    const { body, text, whole } = page(HTML, ...TEXTS);
    const range = text.rangeOf(
      select([textNode(body, 'saw'), 1], [textNode(body, ' cells.'), 6])
    );
    expect(range && whole.slice(range.from, range.to)).toBe('aw few cells');
  });

  it('maps a selection over paragraphs', () => {
    const { body, text, whole } = page(HTML, ...TEXTS);
    const range = text.rangeOf(
      select([textNode(body, 'Results'), 3], [textNode(body, 'In a table'), 2])
    );
    expect(range && whole.slice(range.from, range.to)).toBe(
      'ults\nWe saw few cells.\nIn'
    );
  });

  it('counts a line break as one character', () => {
    const { body, text, whole } = page(
      '<p data-paragraph="1">one<br>two</p>',
      'one\ntwo'
    );
    const range = text.rangeOf(
      select([textNode(body, 'one'), 1], [textNode(body, 'two'), 2])
    );
    expect(range && whole.slice(range.from, range.to)).toBe('ne\u2028tw');
  });

  it('finds no text in a deletion', () => {
    const { body, text } = page(HTML, ...TEXTS);
    const many = textNode(body, 'many');
    expect(text.rangeOf(select([many, 0], [many, 4]))).toBeNull();
  });

  it('keeps offsets where the page shows a paragraph differently', () => {
    const { body, text, whole } = page(
      '<p data-paragraph="1">1. Seen</p><p data-paragraph="2">Next</p>',
      'Seen',
      'Next'
    );
    const range = text.rangeOf(
      select([textNode(body, '1. Seen'), 3], [textNode(body, 'Next'), 4])
    );
    expect(range && whole.slice(range.from, range.to)).toBe('Seen\nNext');
  });

  it('marks a range in pieces and removes the marks again', () => {
    const { body, text, whole } = page(HTML, ...TEXTS);
    const before = body.innerHTML;
    const from = whole.indexOf('saw few');
    const opened: unknown[] = [];
    drawMarks(body, text, [{ ...MARK, from, to: from + 7 }], ids =>
      opened.push(ids)
    );
    const pieces = [...body.querySelectorAll('.shoulders-ThreadText')];
    expect(pieces.map(each => each.textContent).join('')).toBe('saw few');
    body.querySelector<HTMLElement>('.shoulders-ThreadDot')?.click();
    expect(opened).toEqual([['t1']]);
    drawMarks(body, text, [], () => undefined);
    expect(body.innerHTML).toBe(before);
  });

  it('puts notes after their paragraphs and keeps the focus in them', () => {
    const { body, text } = page(HTML, ...TEXTS);
    const node = document.createElement('div');
    const control = document.createElement('button');
    node.append(control);
    const notes = [{ paragraph: 2, node, className: 'changed' }];
    drawNotes(body, text, notes);
    control.focus();
    drawNotes(body, text, notes);
    expect(text.element(2)?.nextElementSibling).toBe(node);
    expect(text.element(2)?.className).toBe('changed');
    expect(document.activeElement).toBe(control);
    drawNotes(body, text, []);
    expect(node.isConnected).toBe(false);
    expect(text.element(2)?.className).toBe('');
  });
});

describe('the HTML of a document', () => {
  it.each([
    ['a script', '<script>hit = 1</script><p data-paragraph="1">a</p>'],
    ['a handler', '<p data-paragraph="1" onclick="hit = 1">a</p>'],
    [
      'a remote image',
      '<p data-paragraph="1">a</p><img src="https://e.example/i">'
    ],
    ['a link', '<p data-paragraph="1"><a href="javascript:hit=1">a</a></p>'],
    ['a style', '<p data-paragraph="1" style="background:url(//e)">a</p>'],
    ['a frame', '<iframe src="//e"></iframe><p data-paragraph="1">a</p>'],
    ['a form', '<form action="//e"><input></form><p data-paragraph="1">a</p>']
  ])('has no effect with %s', (_, html) => {
    const { body } = page(html, 'a');
    expect(body.innerHTML).toMatch(
      /^(?:\[image\]|\[\])?<p data-paragraph="1">a<\/p>(?:\[\]|\[image\])?$/
    );
  });

  it('keeps the marks of changes and comments', () => {
    const html =
      '<p data-paragraph="1"><ins data-author="Ada" data-date="2026-01-02">new</ins>' +
      '<span data-comment="3">word</span></p>';
    expect(page(html, 'newword').body.innerHTML).toBe(html);
  });
});
