/** Small pure rules: tabs, differences, visible parts, number formats. */

import { describe, expect, test } from 'vitest';

import type { AgentView, CallView } from '../../wire/generated';
import { diffLines, parseDiff } from '../../text/diff';
import {
  formatCount,
  formatDuration,
  formatElapsed,
  formatMoney,
  formatPrice,
  formatSize,
  formatTokens,
  groupCounts,
  groupDigits
} from '../../text/numberFormat';
import {
  activityOf,
  editOf,
  isAwaitingResponse,
  isRunning,
  pendingCall,
  picturesOf,
  presentParts
} from '../view-models/conversationItems';
import {
  addTab,
  closeTab,
  freshTabs,
  openTab,
  shiftTab,
  stepTab
} from '../conversations/tabs';
import { visible, withoutEscapes } from '../../text/hiddenCharacters';
import { fixture } from './reducerFixtures';

const view = (name: string) => fixture(name).expected;

function agent(name: string): AgentView {
  const message = view(name).messages.find(({ role }) => role === 'agent');
  if (message?.role !== 'agent') {
    throw new Error(`${name} has no answer`);
  }
  return message;
}

function call(name: string): CallView {
  const part = agent(name).parts.find(({ type }) => type === 'call');
  if (part?.type !== 'call') {
    throw new Error(`${name} has no call`);
  }
  return part;
}

describe('tabs', () => {
  test('a session has one tab, an empty conversation is used again', () => {
    let state = freshTabs('a');
    state = openTab(state, 'b', 's1');
    state = openTab(state, 'c', 's1');
    expect(state.tabs.map(({ key }) => key)).toEqual(['a', 'b']);
    state = addTab(state, 'd');
    expect(state.active).toBe('a');
  });

  test('a tab is put elsewhere, but not past the ends', () => {
    const state = openTab(openTab(freshTabs('a'), 'b', 's1'), 'c', 's2');
    const order = (by: number): string =>
      shiftTab(state, 'b', by)
        .tabs.map(({ key }) => key)
        .join('');
    expect([-9, -1, 0, 1, 9].map(order)).toEqual([
      'bac',
      'bac',
      'abc',
      'acb',
      'acb'
    ]);
    expect(shiftTab(state, 'x', 1)).toBe(state);
  });

  test('closing goes to the neighbour, and never leaves none', () => {
    let state = openTab(openTab(freshTabs('a'), 'b', 's1'), 'c', 's2');
    state = closeTab(state, 'c', 'x');
    expect(state.active).toBe('b');
    state = closeTab(closeTab(state, 'a', 'x'), 'b', 'x');
    expect(state).toEqual(freshTabs('x'));
    expect(closeTab(state, 'unknown', 'y')).toBe(state);
  });

  test('stepping goes around', () => {
    const state = openTab(freshTabs('a'), 'b', 's1');
    expect(stepTab(state, 1).active).toBe('a');
    expect(stepTab(stepTab(state, 1), -1).active).toBe('b');
  });
});

describe('differences', () => {
  const kinds = (before: string, after: string) =>
    diffLines(before, after).map(({ kind, text }) => `${kind}:${text}`);

  test.each([
    ['nothing', 'a\nb', 'a\nb', ['same:a', 'same:b']],
    ['one line', 'a\nb\nc', 'a\nB\nc', ['same:a', 'old:b', 'new:B', 'same:c']],
    ['an added end', 'a', 'a\nb', ['same:a', 'new:b']],
    ['from empty', '', 'a', ['new:a']],
    ['to empty', 'a\n', '', ['old:a', 'old:']],
    ['a removed line', 'a\nb', 'a', ['same:a', 'old:b']]
  ])('%s', (_, before, after, lines) => {
    expect(kinds(before, after)).toEqual(lines);
  });

  test('long unchanged stretches are left out', () => {
    const before = Array.from({ length: 30 }, (_, i) => `line ${i}`);
    const after = before.map((line, i) => (i === 15 ? 'changed' : line));
    expect(kinds(before.join('\n'), after.join('\n'))).toEqual([
      'gap:',
      'same:line 13',
      'same:line 14',
      'old:line 15',
      'new:changed',
      'same:line 16',
      'same:line 17',
      'gap:'
    ]);
  });

  test('a written difference is read by its marks', () => {
    expect(parseDiff('@@ -1 +1 @@\n-a\n+b\n c').map(line => line.kind)).toEqual(
      ['gap', 'old', 'new', 'same']
    );
  });
});

describe('what is shown', () => {
  test('consecutive quiet reads share a line', () => {
    const read = { ...call('parallel-calls'), state: 'ok' as const };
    const parts = [
      { ...read, call_id: 'a' },
      { ...read, call_id: 'b' },
      { ...read, call_id: 'c', state: 'running' as const },
      { ...read, call_id: 'd' }
    ];
    const items = presentParts({ ...agent('parallel-calls'), parts });
    expect(items.map(({ kind, key }) => `${kind} ${key}`)).toEqual([
      'reads a',
      'part c',
      'reads d'
    ]);
  });

  test('a finished complete call is not a line', () => {
    const done = { ...call('invalid-call'), tool: 'complete' };
    const message = { ...agent('invalid-call'), parts: [done] };
    expect(presentParts(message)).toHaveLength(1);
    const ok = { ...message, parts: [{ ...done, state: 'ok' as const }] };
    expect(presentParts(ok)).toEqual([]);
  });

  test('the dots show until the first content', () => {
    const { events } = fixture('streamed-text');
    expect(events.length).toBeGreaterThan(0);
    const started = { ...view('retry-waiting') };
    expect(isAwaitingResponse(started)).toBe(true);
    expect(isAwaitingResponse(view('reasoning-then-open-text'))).toBe(false);
    expect(isAwaitingResponse(view('streamed-text'))).toBe(false);
  });

  test.each([
    ['approval-pending', 'approval'],
    ['questions', 'question'],
    ['retry-waiting', 'retry'],
    ['parallel-calls', 'tool'],
    ['reasoning-then-open-text', 'writing'],
    ['queued-messages', 'writing'],
    ['approval-deny', 'asking']
  ])('the activity in %s: %s', (name, kind) => {
    expect(activityOf(view(name)).kind).toBe(kind);
  });

  test('a turn runs until it ended or was cut off', () => {
    expect(isRunning(view('approval-pending'))).toBe(true);
    expect(isRunning(view('retry-waiting'))).toBe(true);
    expect(isRunning(view('interrupted'))).toBe(false);
    expect(isRunning(view('streamed-text'))).toBe(false);
  });

  test('the waiting call is found', () => {
    expect(pendingCall(view('approval-pending'))?.call_id).toBe('k1');
    expect(pendingCall(view('streamed-text'))).toBeNull();
  });

  test('an edit is known from its result, else from its arguments', () => {
    const edit = call('proposal');
    expect(editOf(edit)).toBeNull();
    const replace = { path: 'a', old_string: 'x', new_string: 'y' };
    expect(editOf({ ...edit, arguments: replace })).toEqual({
      before: 'x',
      after: 'y'
    });
    const data = { before: 'whole x', after: 'whole y' };
    const result = edit.result && { ...edit.result, data };
    expect(editOf({ ...edit, arguments: replace, result })).toEqual(data);
  });

  test('pictures come from outputs, as data only', () => {
    const ran = call('approval-allow');
    const png = {
      output_type: 'display_data',
      data: { 'image/png': 'aG\nk=' }
    };
    const html = { output_type: 'display_data', data: { 'text/html': '<b>' } };
    const result = ran.result && {
      ...ran.result,
      data: { outputs: [png, html, 'odd', null] }
    };
    expect(picturesOf({ ...ran, result })).toEqual([
      'data:image/png;base64,aGk='
    ]);
    expect(picturesOf(ran)).toEqual(['data:image/png;base64,aGk=']); // sent to the model
    expect(picturesOf({ ...ran, content: [] })).toEqual([]);
  });
});

test.each([
  ['a\u202eb', 'a⟨U+202E⟩b'],
  ['zero\u200bwidth', 'zero⟨U+200B⟩width'],
  ['tag\u{e0041}', 'tag⟨U+E0041⟩'],
  ['tab\tand\nnewline', 'tab\tand\nnewline'],
  ['naïve 🐧', 'naïve 🐧']
])('hidden characters are spelt out: %j', (text, shown) => {
  expect(visible(text)).toBe(shown);
});

test('control sequences of terminals are left out', () => {
  const text =
    '\u001b[31mred\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u001b\\\u001bM';
  expect(withoutEscapes(text)).toBe('red link');
});

test('numbers read as people write them', () => {
  expect(formatDuration(850)).toBe('0.9 s');
  expect(formatDuration(12_400)).toBe('12 s');
  expect(formatDuration(150_000)).toBe('2 min 30 s');
  expect(formatDuration(7_500_000)).toBe('2 h 5 min');
  expect(formatElapsed(61_000)).toBe('1 min 1 s');
  expect(formatElapsed(-5)).toBe('0 s');
  expect(formatTokens(999)).toBe('999');
  expect(formatTokens(45_312)).toBe('45.3k');
  expect(formatTokens(1_000_000)).toBe('1M');
  expect(formatMoney(42_000)).toBe('$0.04');
  expect(formatMoney(420)).toBe('$0.00042');
  expect(formatMoney(0)).toBe('$0');
  expect(formatMoney(500)).toBe('$0.0005');
  expect(formatMoney(0.5)).toBe('<$0.0001');
  expect(formatPrice(1_250_000)).toBe('$1.25');
  expect(formatMoney(1_234_500_000)).toBe('$1,234.50');
  expect(formatSize(2_500_000_000)).toBe('2.5 GB');
  expect(formatCount(10_621)).toBe('10,621');
  expect(groupDigits('10621 files of 10621', 10_621)).toBe(
    '10,621 files of 10621'
  );
  expect(groupCounts('2048 files, more than 50000, 999 at h:11434 v1000')).toBe(
    '2,048 files, more than 50,000, 999 at h:11434 v1000'
  );
});

test.each([
  ['de_DE', '10.621', '2,5 MB', '$0,04'],
  ['de-DE', '10.621', '2,5 MB', '$0,04'],
  ['no language at all', '10,621', '2.5 MB', '$0.04']
])('a page in %s writes numbers as %s', (language, count, size, money) => {
  document.documentElement.lang = language;
  try {
    expect(formatCount(10_621)).toBe(count);
    expect(formatSize(2_500_000)).toBe(size);
    expect(formatMoney(42_000)).toBe(money);
  } finally {
    document.documentElement.lang = '';
  }
});
