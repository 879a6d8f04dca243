import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { afterEach, expect, test, vi } from 'vitest';

import { EditorMarks, type ITextMark } from '../editorMarks';

afterEach(() => document.body.replaceChildren());

const TEXT = 'first line\nsecond line\nthird line\n';

function textMark(id: string, from: number, to: number): ITextMark {
  return { id, from, to, classes: 'shoulders-mod-idle', label: `Thread ${id}` };
}

/** An editor with text and marks, and the list of opened threads. */
function scene() {
  const opened = vi.fn();
  const settled = vi.fn();
  const marks = new EditorMarks({
    opened,
    settled,
    dotOf: ids => ({ classes: `shoulders-mod-idle`, label: ids.join(' ') })
  });
  const view = new EditorView({
    state: EditorState.create({ doc: TEXT, extensions: marks.extension }),
    parent: document.body
  });
  const dots = () => [
    ...view.dom.querySelectorAll<HTMLElement>('.shoulders-ThreadDot')
  ];
  const underlined = () =>
    [...view.dom.querySelectorAll('.shoulders-ThreadText')].map(
      ({ textContent }) => textContent
    );
  return { marks, view, opened, settled, dots, underlined };
}

test('text is underlined, and each line that a thread begins in has one dot', () => {
  const { marks, view, dots, underlined } = scene();
  expect(view.dom.querySelector('.cm-gutters')).toBeNull();
  marks.show(view, [
    textMark('a', 0, 5),
    textMark('b', 6, 10),
    textMark('c', 11, 22)
  ]);
  expect(underlined()).toEqual(['first', 'line', 'second line']);
  expect(dots().map(({ title, textContent }) => [title, textContent])).toEqual([
    ['a b', '2'],
    ['c', '']
  ]);
  marks.show(view, []);
  expect(underlined()).toEqual([]);
  expect(view.dom.querySelector('.cm-gutters')).toBeNull();
});

test('marks move with what is typed, and what is typed at their ends is not of them', () => {
  const { marks, view, underlined } = scene();
  marks.show(view, [textMark('a', 11, 17)]);
  view.dispatch({ changes: { from: 0, insert: 'zero\n' } });
  view.dispatch({ changes: { from: 16, insert: 'a ' } });
  view.dispatch({ changes: { from: 24, insert: 'ly' } });
  view.dispatch({ changes: { from: 20, insert: '-' } });
  expect(underlined()).toEqual(['se-cond']);
  expect(marks.in(view.state)).toEqual([textMark('a', 18, 25)]);
});

test('marks that stand where they are to be are not drawn again', () => {
  const { marks, view } = scene();
  marks.show(view, [textMark('a', 11, 17)]);
  view.dispatch({ changes: { from: 0, insert: 'ab' } });
  const { state } = view;
  marks.show(view, [textMark('a', 13, 19)]);
  expect(view.state).toBe(state);
});

test('a place without text has a separate dot', () => {
  const { marks, view, dots, underlined } = scene();
  marks.show(view, [textMark('a', 13, 13)]);
  expect([underlined(), dots().length]).toEqual([[], 1]);
});

test('a dot opens the threads of its line, wherever they are by now', () => {
  const { marks, view, dots, opened } = scene();
  marks.show(view, [textMark('a', 0, 5), textMark('b', 11, 17)]);
  view.dispatch({ changes: { from: 0, to: 11 } }); // Both threads are on one line now.
  const [dot] = dots();
  dot?.dispatchEvent(new MouseEvent('click', { bubbles: true }));
  expect(opened).toHaveBeenCalledWith(['a', 'b'], expect.anything());
});

test('nothing is drawn into a text that is being composed', () => {
  const { marks, view, underlined, settled } = scene();
  vi.spyOn(view, 'composing', 'get').mockReturnValue(true);
  expect(marks.show(view, [textMark('a', 0, 5)])).toBe(false);
  expect(underlined()).toEqual([]);
  view.contentDOM.dispatchEvent(new CompositionEvent('compositionend'));
  expect(settled).toHaveBeenCalledOnce();
});
