import { expect, test } from 'vitest';

import {
  advance,
  shownSuggestion,
  type SuggestionEvent,
  type ISuggestionState
} from '../suggestionState';

const ASK: SuggestionEvent = { type: 'ask', generation: 2 };

function after(...events: SuggestionEvent[]): ISuggestionState | null {
  return events.reduce<ISuggestionState | null>(advance, null);
}

function suggest(text: string, generation = 2): SuggestionEvent {
  return { type: 'suggest', generation, text };
}

function end(suggestions: string[], generation = 2): SuggestionEvent {
  return { type: 'end', generation, suggestions };
}

test('it loads, shows the first suggestion that is whole, then the list that holds', () => {
  expect(after(ASK)?.phase).toBe('loading');
  expect(after(ASK, suggest('one'))).toEqual({
    generation: 2,
    phase: 'active',
    suggestions: ['one'],
    index: 0,
    isComplete: false
  });
  expect(after(ASK, suggest('one'), end(['one', 'two']))).toEqual({
    generation: 2,
    phase: 'active',
    suggestions: ['one', 'two'],
    index: 0,
    isComplete: true
  });
});

test('what the user looks at stays when the list comes in another order, or without it', () => {
  const reordered = after(ASK, suggest('one'), end(['two', 'one']));
  expect([shownSuggestion(reordered), reordered?.index]).toEqual(['one', 1]);
  const without = after(ASK, suggest('one'), end(['two']));
  expect(without?.suggestions).toEqual(['one', 'two']);
  expect(shownSuggestion(without)).toBe('one');
});

test('answers to another request, and after the end, change nothing', () => {
  expect(after(ASK, suggest('late', 1))?.phase).toBe('loading');
  expect(after(ASK, end(['late'], 1))?.phase).toBe('loading');
  const ended = after(ASK, end(['one']));
  expect(advance(ended, suggest('more'))).toBe(ended);
  expect(advance(null, suggest('late'))).toBeNull();
  expect(advance(null, end(['late']))).toBeNull();
});

test('an end without suggestions leaves nothing', () => {
  expect(after(ASK, end([]))).toBeNull();
  expect(after(ASK, end(['', '  \n']))).toBeNull();
});

test('asking again starts from the beginning', () => {
  const again = after(ASK, suggest('one'), { type: 'ask', generation: 3 });
  expect(again).toMatchObject({ generation: 3, phase: 'loading' });
  expect(again?.suggestions).toEqual([]);
});

test('blanks at the end go, line ends are those of the editor, and no two are the same', () => {
  const ghost = after(ASK, end(['a\r\nb \n', 'a\nb', ' c']));
  expect(ghost?.suggestions).toEqual(['a\nb', ' c']);
});

test('cycling goes round in both directions', () => {
  const three = after(ASK, end(['a', 'b', 'c']));
  const at = (...steps: (1 | -1)[]) =>
    shownSuggestion(
      steps.reduce<ISuggestionState | null>(
        (ghost, step) => advance(ghost, { type: 'cycle', step }),
        three
      )
    );
  expect([at(1), at(1, 1), at(1, 1, 1), at(-1)]).toEqual(['b', 'c', 'a', 'c']);
  expect(advance(after(ASK), { type: 'cycle', step: 1 })?.phase).toBe(
    'loading'
  );
});

test('taking a part leaves the rest, and those that begin in the same way', () => {
  const all = after(
    ASK,
    end(['other', 'plt.plot(x)', 'plt.show()', 'plt']),
    { type: 'cycle', step: 1 },
    { type: 'take', text: 'plt' }
  );
  expect(all?.suggestions).toEqual(['.plot(x)', '.show()']);
  expect([shownSuggestion(all), all?.isComplete]).toEqual(['.plot(x)', true]);
});

test('taking all of it, or dropping it, leaves nothing', () => {
  const one = after(ASK, end(['one', 'one more']));
  expect(advance(one, { type: 'take', text: 'one' })).toBeNull();
  expect(advance(one, { type: 'drop' })).toBeNull();
});
