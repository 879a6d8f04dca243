import { nullTranslator } from '@jupyterlab/translation';
import { expect, test } from 'vitest';

import {
  advance,
  type SuggestionEvent,
  type ISuggestionState
} from '../suggestionState';
import { screenReaderText } from '../screenReader';

const ASK: SuggestionEvent = { type: 'ask', generation: 1 };
const trans = nullTranslator.load('jupyter_ai_shoulders');

/** The announcement at each of these events. */
function said(...events: SuggestionEvent[]): (string | null)[] {
  let before: ISuggestionState | null = null;
  return events.map(event => {
    const now = advance(before, event);
    const text = now === null ? null : screenReaderText(now, before, trans);
    before = now;
    return text;
  });
}

function suggest(text: string): SuggestionEvent {
  return { type: 'suggest', generation: 1, text };
}

function end(...suggestions: string[]): SuggestionEvent {
  return { type: 'end', generation: 1, suggestions };
}

test('each one that is shown is said, and how many there are when all have come', () => {
  const events = [ASK, suggest('one'), suggest('two'), end('one', 'two')];
  expect(said(...events, { type: 'cycle', step: 1 })).toEqual([
    null,
    'Suggestion: one',
    null,
    '2 suggestions',
    'Suggestion 2 of 2: two'
  ]);
});

test('hidden characters are spelt out', () => {
  expect(said(ASK, suggest('a\u202eb'))).toEqual([
    null,
    'Suggestion: a⟨U+202E⟩b'
  ]);
  expect(said(ASK, end('a\u200bb', 'c'))).toEqual([
    null,
    'Suggestion 1 of 2: a⟨U+200B⟩b'
  ]);
});
