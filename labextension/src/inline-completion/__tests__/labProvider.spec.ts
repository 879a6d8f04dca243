import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { Widget } from '@lumino/widgets';
import { afterEach, expect, test, vi } from 'vitest';

import type { CompletionEnd } from '../../wire/generated';
import type {
  ISuggestionListener,
  SuggestionQuery
} from '../suggestionRequests';
import { LabCompletionProvider } from '../labProvider';
import type { IQueryPosition } from '../requestBody';

const views: EditorView[] = [];

afterEach(() => {
  vi.useRealTimers();
  views.splice(0).forEach(view => view.destroy());
});

function scene(doc = 'é𝒳 = ') {
  const view = new EditorView({
    parent: document.body,
    state: EditorState.create({ doc, selection: { anchor: doc.length } })
  });
  views.push(view);
  view.focus();
  const place: IQueryPosition = {
    view,
    ...{ path: 'a.ipynb', cellId: 'c1', language: 'python' },
    asOneStep: change => change()
  };
  const asked: {
    question: SuggestionQuery;
    asker: ISuggestionListener;
    isCancelled: boolean;
  }[] = [];
  const told: (string | null)[] = [];
  const again: string[] = [];
  const settings = { automatic: true, isTaken: false, isShown: true };
  const inline = new LabCompletionProvider({
    documents: { positionIn: () => place },
    completions: {
      request: (question, asker) => {
        const one = { question, asker, isCancelled: false };
        asked.push(one);
        return { cancel: () => (one.isCancelled = true) };
      }
    },
    preferences: {
      get current() {
        const { automatic } = settings;
        return { enabled_plus: true, automatic, skip_languages: [] };
      }
    },
    hint: { report: ({ reason }) => told.push(reason) },
    hasSuggestions: () => settings.isTaken,
    isShown: () => settings.isShown,
    refetch: id => again.push(id)
  });
  const widget = new Widget();
  widget.id = 'w1';
  const fetch = (isAutomatic = false) => {
    const text = view.state.doc.toString();
    const offset = Array.from(text).length;
    const request = { text, offset, mimeType: 'text/x-python' };
    return inline.fetch(request, widget, isAutomatic);
  };
  return { view, widget, inline, asked, told, again, settings, fetch };
}

function end(suggestions: string[], reason: CompletionEnd['reason'] = null) {
  const type = 'completion-end' as const;
  return {
    ...{ type, request_id: 'r', suggestions, model: null },
    ...{ reason, message: null }
  };
}

/** The values JupyterLab reads from an item's stream. */
async function streamed(
  inline: LabCompletionProvider,
  token: string | undefined
) {
  const texts: string[] = [];
  for await (const { response } of inline.stream(token ?? '')) {
    texts.push(response.insertText);
  }
  return texts;
}

test('the first suggestion answers; when all are there, the lab fetches them', async () => {
  const { inline, asked, again, fetch } = scene();
  const fetched = fetch();
  expect(asked[0]?.question).toEqual({
    ...{ path: 'a.ipynb', cell_id: 'c1', language: 'python' },
    ...{ prefix: 'é𝒳 = ', suffix: '', trigger: 'invoke' }
  });
  asked[0]?.asker.suggested('one');
  const { items } = await fetched;
  const [{ token, ...item } = { insertText: '' }] = items;
  expect([items.length, item]).toEqual([
    1,
    { insertText: 'one', isIncomplete: true }
  ]);
  const stream = streamed(inline, token);
  asked[0]?.asker.suggested('two');
  asked[0]?.asker.ended(end(['one', 'two']));
  expect(await stream).toEqual(['one']);
  expect(again).toEqual(['w1']);
  expect((await fetch()).items).toEqual([
    { insertText: 'one' },
    { insertText: 'two' }
  ]);
  expect(asked).toHaveLength(1);
  void fetch();
  expect(asked).toHaveLength(2);
});

test('what was dismissed does not come back with the others', async () => {
  vi.useFakeTimers();
  const { asked, again, settings, fetch } = scene();
  void fetch();
  asked[0]?.asker.suggested('one');
  settings.isShown = false; // Esc
  asked[0]?.asker.ended(end(['one', 'two']));
  vi.runAllTimers();
  expect(again).toEqual([]);
  expect((await fetch()).items).toHaveLength(2);
});

test('the others wait until the first is drawn', () => {
  vi.useFakeTimers();
  const { asked, again, settings, fetch } = scene();
  settings.isShown = false;
  void fetch();
  asked[0]?.asker.suggested('one');
  asked[0]?.asker.ended(end(['one', 'two']));
  settings.isShown = true;
  expect(again).toEqual([]);
  vi.runAllTimers();
  expect(again).toEqual(['w1']);
});

test('a list that comes whole is given whole', async () => {
  const { asked, again, fetch } = scene();
  const fetched = fetch(true);
  expect(asked[0]?.question.trigger).toBe('automatic');
  asked[0]?.asker.ended(end(['one', 'two']));
  expect((await fetched).items).toHaveLength(2);
  expect(again).toEqual([]);
});

test('no suggestion is an empty list, and the hint receives the reason', async () => {
  const { asked, told, fetch } = scene();
  const fetched = fetch();
  asked[0]?.asker.ended(end([], 'no_key'));
  expect((await fetched).items).toEqual([]);
  expect(told).toEqual(['no_key']);
});

test('an answer is dropped when the user typed during the request', async () => {
  const { view, inline, asked, again, fetch } = scene();
  const fetched = fetch();
  inline.moved(view);
  expect((await fetched).items).toEqual([]);
  expect(asked[0]?.isCancelled).toBe(true);

  const shown = fetch();
  asked[1]?.asker.suggested('one');
  const { token } = (await shown).items[0] ?? {};
  const stream = streamed(inline, token);
  inline.moved(view);
  expect(await stream).toEqual([]);
  expect(asked[1]?.isCancelled).toBe(true);
  expect(again).toEqual([]);
});

test('a newer request lets the older go', async () => {
  const { asked, fetch } = scene();
  const older = fetch();
  void fetch();
  expect((await older).items).toEqual([]);
  expect(asked.map(({ isCancelled }) => isCancelled)).toEqual([true, false]);
});

test('all suggestions are for the place they were asked at', async () => {
  const { view, asked, fetch } = scene();
  const fetched = fetch();
  asked[0]?.asker.suggested('one');
  await fetched;
  asked[0]?.asker.ended(end(['one', 'two']));
  view.dispatch({
    changes: { from: view.state.doc.length, insert: 'o' },
    selection: { anchor: view.state.doc.length + 1 }
  });
  void fetch();
  expect(asked).toHaveLength(2);
});

test('nothing is asked for while one types, unless the settings say so and one is in the editor', async () => {
  const { view, asked, settings, fetch } = scene();
  settings.automatic = false;
  expect((await fetch(true)).items).toEqual([]);
  settings.automatic = true;
  view.contentDOM.blur();
  expect((await fetch(true)).items).toEqual([]);
  expect(asked).toEqual([]);
});

test('nothing is asked for where ++ shows something, or where the caret is not', async () => {
  const { view, widget, inline, asked, settings, fetch } = scene();
  settings.isTaken = true;
  expect((await fetch()).items).toEqual([]);
  settings.isTaken = false;
  const request = { text: 'other', offset: 5, mimeType: '' };
  expect((await inline.fetch(request, widget, false)).items).toEqual([]);
  view.dispatch({ selection: { anchor: 0, head: 2 } });
  expect((await fetch()).items).toEqual([]);
  expect(asked).toEqual([]);
});

test('what takes longer than the lab waits is let go', async () => {
  const { inline, asked, fetch } = scene();
  inline.configure({ timeout: 1 });
  expect((await fetch()).items).toEqual([]);
  expect(asked[0]?.isCancelled).toBe(true);
});
