import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { afterEach, expect, test } from 'vitest';

import type { ISuggestionState } from '../suggestionState';
import {
  suggestionsIn,
  suggestionView,
  hasSuggestionView,
  acceptSuggestion,
  updateSuggestions
} from '../ghostText';

const views: EditorView[] = [];

afterEach(() => {
  views.splice(0).forEach(view => view.destroy());
});

/** An editor with its caret behind `before`. */
function editor(before: string, after = '', extra: Extension = []) {
  const heard: (ISuggestionState | null)[] = [];
  const view = new EditorView({
    parent: document.body,
    state: EditorState.create({
      doc: before + after,
      selection: { anchor: before.length },
      extensions: [suggestionView((_, ghost) => heard.push(ghost)), extra]
    })
  });
  views.push(view);
  return { view, heard, find: finder(view) };
}

function finder({ dom }: EditorView) {
  return (selector: string): string | null =>
    dom.querySelector(selector)?.textContent ?? null;
}

function active(view: EditorView, ...suggestions: string[]): void {
  updateSuggestions(view, { type: 'ask', generation: 1 });
  updateSuggestions(view, { type: 'end', generation: 1, suggestions });
}

test('dots, then the first suggestion with its badge; the text stays as it is', () => {
  const { view, find } = editor('a = ');
  expect(hasSuggestionView(view)).toBe(true);
  updateSuggestions(view, { type: 'ask', generation: 1 });
  expect(find('.shoulders-GhostDots')).toBe('');
  expect(view.dom.className).toContain('shoulders-mod-ghostLoading');
  updateSuggestions(view, { type: 'suggest', generation: 1, text: 'one' });
  expect(find('.shoulders-Ghost-badge')).toBe('1/1…');
  updateSuggestions(view, {
    type: 'end',
    generation: 1,
    suggestions: ['one', 'two']
  });
  expect(find('.shoulders-GhostDots')).toBeNull();
  expect(find('.shoulders-Ghost-text')).toBe('one');
  expect(find('.shoulders-Ghost-badge')).toBe('1/2');
  expect(view.dom.className).toContain('shoulders-mod-ghostActive');
  expect(view.state.doc.toString()).toBe('a = ');
  updateSuggestions(view, { type: 'cycle', step: 1 });
  expect(find('.shoulders-Ghost-text')).toBe('two');
});

test('one suggestion has no badge, and hidden characters are spelt out', () => {
  const { view, find } = editor('');
  active(view, 'a\u202eb');
  expect(find('.shoulders-Ghost')).toBe('a⟨U+202E⟩b');
});

test.each([
  ['an edit', { changes: { from: 0, insert: 'x' } }],
  ['a move of the caret', { selection: { anchor: 0 } }]
])('%s drops what is shown or awaited', (_, change) => {
  const { view, heard } = editor('a = ');
  active(view, 'one');
  view.dispatch(change);
  expect(suggestionsIn(view.state)).toBeNull();
  updateSuggestions(view, { type: 'ask', generation: 2 });
  view.dispatch(change, { changes: { from: 0, insert: 'y' } });
  updateSuggestions(view, { type: 'suggest', generation: 2, text: 'late' });
  expect(suggestionsIn(view.state)).toBeNull();
  expect(heard.at(-1)).toBeNull();
  expect(view.dom.querySelector('.shoulders-Ghost')).toBeNull();
  expect(view.dom.className).not.toContain('shoulders-mod-ghost');
});

test('a text that becomes read-only shows and accepts nothing', () => {
  const lock = new Compartment();
  const { view } = editor('a = ', '', lock.of([]));
  active(view, 'one');
  view.dispatch({
    effects: lock.reconfigure(EditorState.readOnly.of(true))
  });
  expect(suggestionsIn(view.state)).toBeNull();
});

test('what does not touch text and caret leaves it', () => {
  const { view } = editor('a = ');
  active(view, 'one');
  view.dispatch({ selection: view.state.selection });
  view.dispatch({});
  expect(suggestionsIn(view.state)?.suggestions).toEqual(['one']);
});

test('what is taken goes in at the caret, which comes behind it; the rest stays', () => {
  const { view, find } = editor('a = ', '\nend');
  active(view, 'one\n  two', 'one more');
  acceptSuggestion(view, 'one');
  expect(view.state.doc.toString()).toBe('a = one\nend');
  expect(view.state.selection.main.head).toBe(7);
  expect(find('.shoulders-Ghost-text')).toBe('\n  two');
  expect(find('.shoulders-Ghost-badge')).toBe('1/2');
  acceptSuggestion(view, '\n  two');
  expect(view.state.doc.toString()).toBe('a = one\n  two\nend');
  expect(suggestionsIn(view.state)).toBeNull();
});

test('an editor that goes shows nothing any more', () => {
  const { view, heard } = editor('');
  active(view, 'one');
  view.destroy();
  expect(heard.at(-1)).toBeNull();
});
