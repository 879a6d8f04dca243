/** Editors under review in a real CodeMirror: decisions, typing and reports to the server. */

import { StateEffect, Transaction } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { ApiError } from '../../client/http';
import type { Decision } from '../../editor/hunkDecorations';
import { baselineIn, reviewIn } from '../../editor/reviewView';
import { problem, settled } from '../../model/__tests__/fakes';
import type { DecideEdit } from '../../wire/generated';
import { cellVersion } from '../../wire/versions';
import {
  ReviewedEditors,
  type IReviewedEditor,
  type ITextEdit
} from '../reviewedEditors';
import { edit } from './fixtures';

const QUIET = 1000;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function editorWith(text: string): IReviewedEditor {
  const view = new EditorView({ doc: text, parent: document.body });
  return {
    view,
    isDisposed: false,
    inject: extension =>
      view.dispatch({ effects: StateEffect.appendConfig.of(extension) }),
    asOneStep: change => change()
  };
}

/** The buttons of a change. */
function control(decide: (decision: Decision) => void): HTMLElement {
  const made = document.createElement('div');
  for (const [decision, title] of [
    ['keep', 'Keep this change'],
    ['undo', 'Undo this change']
  ] as const) {
    const button = document.createElement('button');
    button.setAttribute('aria-label', title);
    button.addEventListener('click', () => decide(decision));
    made.append(button);
  }
  return made;
}

function reviewSetup() {
  const told: [string, DecideEdit][] = [];
  const failures: unknown[] = [];
  let failure: ApiError | null = null;
  let refreshed = 0;
  const reviews: ReviewedEditors = new ReviewedEditors(
    {
      labels: {
        title: (added, removed) => `${added} added, ${removed} removed`,
        control: (view, node) =>
          control(decision =>
            reviews.decideAt(view, decision, view.posAtDOM(node))
          )
      },
      decide: (id, body) => {
        told.push([id, body]);
        const error = failure;
        failure = null;
        return error === null ? Promise.resolve() : Promise.reject(error);
      },
      refresh: () => {
        refreshed += 1;
        return Promise.resolve();
      },
      failed: error => failures.push(error),
      moved: () => undefined
    },
    QUIET
  );
  const fail = (status: number): void => {
    failure = new ApiError(status, problem);
  };
  return { reviews, told, failures, fail, refreshes: () => refreshed };
}

function shown(change: ITextEdit = edit('one')) {
  const editor = editorWith(change.current);
  const made = reviewSetup();
  made.reviews.show(editor, change);
  return { editor, view: editor.view, ...made };
}

function type(view: EditorView, from: number, insert: string): void {
  view.dispatch({ changes: { from, insert }, userEvent: 'input.type' });
}

function button(view: EditorView, name: string): HTMLElement {
  const found = view.dom.querySelector<HTMLElement>(`[aria-label="${name}"]`);
  if (found === null) {
    throw new Error(`No button ${name}.`);
  }
  return found;
}

test('a change shows the old lines, marks the new ones and has labelled buttons', () => {
  const { view } = shown();
  expect(view.dom.querySelector('.shoulders-Hunk del')?.textContent).toBe('b');
  expect(view.dom.querySelector('.shoulders-Hunk-added')?.textContent).toBe(
    'B'
  );
  const group = view.dom.querySelector('.shoulders-Hunk');
  expect(group?.getAttribute('aria-label')).toBe('1 added, 1 removed');
  expect(button(view, 'Keep this change').tagName).toBe('BUTTON');
});

test('keeping a change tells the server the baseline that is left', async () => {
  const { view, told } = shown();
  button(view, 'Keep this change').click();
  await settled();
  expect(told).toEqual([
    [
      'one',
      {
        decision: 'keep',
        baseline: 'a\nB\nc',
        current_version: cellVersion('a\nB\nc')
      }
    ]
  ]);
  expect(reviewIn(view)?.chunks).toEqual([]);
});

test('undoing a change changes the text and tells its new version', async () => {
  const { view, told } = shown();
  button(view, 'Undo this change').click();
  await settled();
  expect(view.state.doc.toString()).toBe('a\nb\nc');
  expect(told[0]?.[1]).toEqual({
    decision: 'undo',
    baseline: 'a\nb\nc',
    current_version: cellVersion('a\nb\nc')
  });
});

test('decisions in a row are sent one after the other, the last one with the current baseline', async () => {
  const twice = edit('one', { baseline: 'a\nb\nc\nd', current: 'A\nb\nc\nD' });
  const { view, told } = shown(twice);
  button(view, 'Undo this change').click();
  button(view, 'Keep this change').click();
  await settled();
  expect(told.map(([, { decision }]) => decision)).toEqual(['undo', 'keep']);
  expect(told.at(-1)?.[1].baseline).toBe('a\nb\nc\nD');
});

test('typing beside a change moves the baseline and asks nobody', async () => {
  const { view, told } = shown();
  type(view, 0, 'mine\n');
  await vi.advanceTimersByTimeAsync(QUIET);
  expect(baselineIn(view)).toBe('mine\na\nb\nc');
  expect(reviewIn(view)?.chunks).toHaveLength(1);
  expect(told).toEqual([]);
});

test('a line of the agent that the user types in is the user’s, and the server is informed', async () => {
  const { view, told } = shown();
  type(view, 3, '!');
  await vi.advanceTimersByTimeAsync(QUIET);
  expect(told.map(([, body]) => [body.decision, body.baseline])).toEqual([
    ['keep', 'a\nB!\nc']
  ]);
});

test('a change typed away by hand is over', async () => {
  const { view, told } = shown();
  view.dispatch({
    changes: { from: 2, to: 3, insert: 'b' },
    annotations: Transaction.userEvent.of('input.type')
  });
  await vi.advanceTimersByTimeAsync(QUIET);
  expect(told[0]?.[1].baseline).toBe('a\nb\nc');
});

test('an edit done again after a reload is the agent’s, and nothing is decided by it', async () => {
  const editor = editorWith('a\nb\nc');
  const { reviews, told } = reviewSetup();
  reviews.show(editor, edit('one'));
  expect(reviewIn(editor.view)?.chunks).toEqual([]);
  editor.view.dispatch({ changes: { from: 2, to: 3, insert: 'B' } });
  await vi.advanceTimersByTimeAsync(QUIET);
  expect(baselineIn(editor.view)).toBe('a\nb\nc');
  expect(reviewIn(editor.view)?.chunks).toHaveLength(1);
  expect(told).toEqual([]);
});

test('the server is asked until it knows the text, but not for ever', async () => {
  const { view, refreshes } = shown();
  view.dispatch({ changes: { from: 5, insert: '!' } });
  await vi.advanceTimersByTimeAsync(QUIET * 30);
  expect(refreshes()).toBe(8);
});

test('a new list is taken up, the same one is not', () => {
  const { editor, view, reviews } = shown();
  type(view, 0, 'mine\n');
  reviews.show(editor, edit('one'));
  expect(baselineIn(view)).toBe('mine\na\nb\nc');
  const more = edit('one', {
    current: 'mine\nA\nB\nc',
    baseline: 'mine\na\nb\nc'
  });
  view.dispatch({ changes: { from: 5, to: 6, insert: 'A' } });
  reviews.show(editor, more);
  expect(baselineIn(view)).toBe('mine\na\nb\nc');
  expect(reviewIn(view)?.chunks).toHaveLength(1);
});

test('an edit that is over leaves the editor as it was', () => {
  const { view, reviews } = shown();
  reviews.hideOthers(new Set());
  expect(baselineIn(view)).toBeNull();
  expect(view.dom.querySelector('.shoulders-Hunk')).toBeNull();
});

test('a failed decision is reported and shown again, but not when its change is gone', async () => {
  const { view, fail, failures } = shown();
  fail(500);
  button(view, 'Keep this change').click();
  await settled();
  expect(failures).toHaveLength(1);
  expect(reviewIn(view)?.chunks).toHaveLength(1);
  fail(404);
  button(view, 'Keep this change').click();
  await settled();
  expect(failures).toHaveLength(1);
});

test('all of a text is undone as one change', async () => {
  const twice = edit('one', { baseline: 'a\nb\nc\nd', current: 'A\nb\nc\nD' });
  const { view, reviews, told } = shown(twice);
  await reviews.decideWhole(view, 'undo');
  expect(view.state.doc.toString()).toBe('a\nb\nc\nd');
  expect(told.map(([, { decision }]) => decision)).toEqual(['undo']);
});
