import {
  EditorSelection,
  EditorState,
  type Extension
} from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { afterEach, expect, test } from 'vitest';

import { doublePlusTrigger } from '../doublePlusTrigger';

const views: EditorView[] = [];

afterEach(() => {
  views.splice(0).forEach(view => view.destroy());
});

function editor(doc: string, ...extra: Extension[]) {
  const asked: number[] = [];
  const moves: string[] = [];
  const settings: { mayAsk: boolean | null } = { mayAsk: true };
  let tellKnown = (): void => undefined;
  const known = new Promise<void>(resolve => {
    tellKnown = resolve;
  });
  const port = {
    canRequest: (_: EditorView, at: number) => {
      asked.push(at);
      return settings.mayAsk;
    },
    settingsLoaded: () => known,
    request: (view: EditorView) =>
      moves.push(`ask ${view.state.doc.toString()}`),
    moved: () => moves.push('moved')
  };
  const view = new EditorView({
    parent: document.body,
    state: EditorState.create({
      doc,
      selection: { anchor: doc.length },
      extensions: [
        EditorState.allowMultipleSelections.of(true),
        doublePlusTrigger(port),
        extra
      ]
    })
  });
  views.push(view);
  const nowKnown = async (mayAsk: boolean | null): Promise<void> => {
    settings.mayAsk = mayAsk;
    tellKnown();
    await known;
  };
  return { view, asked, moves, settings, nowKnown, type: typist(view) };
}

/** Types a character `at` ms through the editor's input handlers. */
function typist(view: EditorView) {
  return (text: string, at: number, init: KeyboardEventInit = {}): void => {
    const key = new KeyboardEvent('keydown', { key: text, ...init });
    Object.defineProperty(key, 'timeStamp', { value: at });
    view.contentDOM.dispatchEvent(key);
    const { from, to } = view.state.selection.main;
    const insert = () =>
      view.state.update(view.state.replaceSelection(text), {
        userEvent: 'input.type'
      });
    const handlers = view.state.facet(EditorView.inputHandler);
    if (!handlers.some(handle => handle(view, from, to, text, insert))) {
      view.dispatch(insert());
    }
  };
}

test('two quick + go, and the page is asked where they were', () => {
  const { view, asked, moves, type } = editor('a = ');
  type('+', 1000);
  expect(view.state.doc.toString()).toBe('a = +');
  type('+', 1300);
  expect(asked).toEqual([4]);
  expect(view.state.doc.toString()).toBe('a = ');
  expect(moves).toEqual(['moved', 'moved', 'ask a = ']);
});

test.each([
  ['slow ones', [1000, 1301], {}],
  ['those of a key that is held', [1000, 1030], { repeat: true }]
])('%s stay', (_, [first = 0, second = 0], init) => {
  const { view, asked, type } = editor('');
  type('+', first);
  type('+', second, init);
  expect(view.state.doc.toString()).toBe('++');
  expect(asked).toEqual([]);
});

test('they stay where the page does not want them', () => {
  const { view, moves, settings, type } = editor('i');
  settings.mayAsk = false;
  type('+', 1000);
  type('+', 1050);
  expect(view.state.doc.toString()).toBe('i++');
  expect(moves).toEqual(['moved', 'moved']);
});

test.each([
  ['go as soon as it is known that they ask', true, 'a', ['ask a']],
  ['stay when it is known that they do not', false, 'a++', []],
  ['stay when that is not found out', null, 'a++', []]
])('in the first moment %s', async (_, mayAsk, text, asks) => {
  const { view, moves, settings, nowKnown, type } = editor('a');
  settings.mayAsk = null;
  type('+', 1000);
  type('+', 1100);
  expect(view.state.doc.toString()).toBe('a++');
  await nowKnown(mayAsk);
  expect(view.state.doc.toString()).toBe(text);
  expect(moves.filter(each => each !== 'moved')).toEqual(asks);
});

test.each([
  ['more keys', (view: EditorView) => typist(view)('b', 1200), 'a++b'],
  [
    'a move',
    (view: EditorView) => view.dispatch({ selection: { anchor: 0 } }),
    'a++'
  ]
])('in the first moment %s leave them typed', async (_, act, text) => {
  const { view, moves, settings, nowKnown, type } = editor('a');
  settings.mayAsk = null;
  type('+', 1000);
  type('+', 1100);
  act(view);
  await nowKnown(true);
  expect(view.state.doc.toString()).toBe(text);
  expect(moves).not.toContain('ask a');
});

test('another key between them, or another place, makes the second a first', () => {
  const { view, asked, type } = editor('');
  type('+', 1000);
  type('a', 1010);
  type('+', 1020);
  expect(view.state.doc.toString()).toBe('+a+');
  view.dispatch({ selection: { anchor: 0 } });
  type('+', 1030);
  expect(asked).toEqual([]);
  type('+', 1040);
  expect(asked).toEqual([0]);
  expect(view.state.doc.toString()).toBe('+a+');
});

test('several carets, and a text that cannot be changed, ask for nothing', () => {
  const { view, asked, type } = editor('');
  type('+', 1000);
  view.dispatch({
    changes: { from: 1, insert: '\n+' },
    selection: EditorSelection.create([
      EditorSelection.cursor(1),
      EditorSelection.cursor(3)
    ])
  });
  type('+', 1010);
  expect(asked).toEqual([]);

  const fixed = editor('+', EditorState.readOnly.of(true));
  fixed.type('+', 1000);
  fixed.type('+', 1010);
  expect(fixed.asked).toEqual([]);
});
