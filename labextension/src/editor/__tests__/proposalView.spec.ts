import {
  LanguageSupport,
  LRLanguage,
  syntaxHighlighting
} from '@codemirror/language';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import { parser } from '@lezer/python';
import { afterEach, describe, expect, test } from 'vitest';

import { hasProposalView, proposalView, showProposal } from '../proposalView';

const views: EditorView[] = [];

afterEach(() => views.splice(0).forEach(view => view.destroy()));

const python = [
  new LanguageSupport(LRLanguage.define({ parser })),
  syntaxHighlighting(classHighlighter)
];

function editor(doc: string, ...more: Extension[]): EditorView {
  const extensions = [proposalView(), ...more];
  const state = EditorState.create({ doc, extensions });
  const view = new EditorView({ state, parent: document.body });
  views.push(view);
  return view;
}

const texts = (view: EditorView, name: string): (string | null)[] =>
  [...view.dom.querySelectorAll(`.shoulders-Proposed-${name}`)].map(
    node => node.textContent
  );

describe('a change that is not made yet', () => {
  test('stands beside the text, which stays as it is', () => {
    const view = editor('a = 1\nb = 2');
    showProposal(view, { base: 'a = 1\nb = 2', proposed: 'a = 10\nb = 2\nc' });
    expect(view.state.doc.toString()).toBe('a = 1\nb = 2');
    expect(texts(view, 'old')).toEqual(['a = 1']);
    expect(texts(view, 'new')).toEqual(['a = 10', 'c']);
    expect(texts(view, 'newText')).toEqual(['0']);
  });

  test.each([
    ['lines at the beginning', 'a', 'x\na', [], ['x']],
    ['lines at the end', 'a', 'a\nx\ny', [], ['x', 'y']],
    ['a text where none was', '', 'x', [''], ['x']],
    ['nothing in place of all', 'a\nb', '', ['a', 'b'], ['']],
    ['lines taken out', 'a\nb\nc', 'a\nc', ['b'], []]
  ])('shows %s', (_, base, proposed, old, fresh) => {
    const view = editor(base);
    showProposal(view, { base, proposed });
    expect(texts(view, 'old')).toEqual(old);
    expect(texts(view, 'new')).toEqual(fresh);
  });

  test('goes along with what the user types, and shows what it would replace where that clashes', () => {
    const view = editor('a\nb\nc');
    showProposal(view, { base: 'a\nb\nc', proposed: 'a\nB\nc' });
    view.dispatch({ changes: { from: 5, insert: ' mine' } });
    expect(texts(view, 'new')).toEqual(['B']);
    expect(texts(view, 'old')).toEqual(['b']);
    view.dispatch({ changes: { from: 2, to: 3, insert: 'mine' } });
    expect(texts(view, 'new')).toEqual(['B', 'c']);
    expect(texts(view, 'old')).toEqual(['mine', 'c mine']);
  });

  test('has the colours of the language, also in the words that are new', () => {
    const base = 'def total(x):\n    return x';
    const view = editor(base, python);
    showProposal(view, {
      base,
      proposed: "def total(x):\n    return x + 'one\u200b'  # more\n    pass"
    });
    expect(texts(view, 'new')).toEqual([
      "    return x + 'one⟨U+200B⟩'  # more",
      '    pass'
    ]);
    const coloured = [...view.dom.querySelectorAll('ins [class^=tok-]')].map(
      piece => [piece.className, piece.textContent]
    );
    expect(coloured).toContainEqual(['tok-keyword', 'return']);
    expect(coloured).toContainEqual(['tok-string', "'one⟨U+200B⟩'"]);
    expect(coloured).toContainEqual(['tok-comment', '# more']);
    expect(coloured).toContainEqual(['tok-keyword', 'pass']);
    expect(texts(view, 'newText').join('')).toContain('# more');
  });

  test('spells out characters that hide', () => {
    const view = editor('a');
    showProposal(view, { base: 'a', proposed: 'b\u200b' });
    expect(texts(view, 'new')).toEqual(['b⟨U+200B⟩']);
  });

  test('is gone when there is none, and editors without the view are left alone', () => {
    const view = editor('a');
    showProposal(view, { base: 'a', proposed: 'b' });
    showProposal(view, null);
    expect(texts(view, 'new')).toEqual([]);
    const plain = new EditorView({ doc: 'a' });
    views.push(plain);
    expect(hasProposalView(view)).toBe(true);
    expect(hasProposalView(plain)).toBe(false);
  });
});
