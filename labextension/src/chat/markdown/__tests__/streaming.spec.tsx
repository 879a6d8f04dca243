/** Streaming does not touch completed blocks, whatever kind of block grows. */

import { afterEach, describe, expect, test, vi } from 'vitest';
import * as React from 'react';

import { show } from '../../__tests__/harness';
import { ProgressiveHighlighter } from '../../../ui/viewers/progressiveHighlight';
import { Markdown } from '../Markdown';

afterEach(() => {
  vi.useRealTimers();
});

/** Grow a text word by word; return the elements of its first half that were changed or replaced. */
function touched(text: string, selector: string): string[] {
  const words = text.match(/\S+\s*/g) ?? [];
  const half = Math.floor(words.length / 2);
  const upTo = (count: number) => (
    <Markdown text={words.slice(0, count).join('')} />
  );
  const { container, rerender } = show(upTo(half));
  // The last two may still be open.
  const before = [...container.querySelectorAll(selector)].slice(0, -2);
  expect(before.length).toBeGreaterThan(5);
  const children = before.map(element => element.firstChild);
  for (let count = half + 1; count <= words.length; count++) {
    rerender(upTo(count));
  }
  return before
    .filter(
      (element, index) =>
        !element.isConnected || element.firstChild !== children[index]
    )
    .map(element => element.outerHTML);
}

const times = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => make(index)).join('');

describe('text that grows', () => {
  test.each([
    ['paragraphs', times(60, at => `Text *${at}* of it.\n\n`), 'p'],
    [
      'a table',
      `| a | b |\n|---|---|\n${times(40, at => `| **${at}** | [x](https://a.example/${at}) |\n`)}`,
      'td'
    ],
    [
      'a list with links',
      times(40, at => `- item [${at}](https://a.example/${at})\n`),
      'li .shoulders-Markdown-block'
    ],
    [
      'a list in a list',
      times(40, at => `- item ${at}\n  - below it\n`),
      'li .shoulders-Markdown-block'
    ]
  ])('of %s is rendered where it grows only', (_, text, selector) => {
    expect(touched(text, selector)).toEqual([]);
  });
});

describe('code that grows', () => {
  const painted: string[] = [];
  const paint = (code: string, into: HTMLElement): Promise<void> => {
    painted.push(code);
    const colour = document.createElement('b');
    colour.textContent = code;
    into.append(colour);
    return Promise.resolve();
  };
  afterEach(() => {
    painted.length = 0;
  });
  const growing = () => {
    vi.useFakeTimers();
    const element = document.createElement('code');
    return { element, code: new ProgressiveHighlighter(element, paint) };
  };

  test('shows each word at once, and its colours now and then', async () => {
    const { element, code } = growing();
    for (let length = 1; length <= 200; length++) {
      code.show('x '.repeat(length));
    }
    await vi.advanceTimersByTimeAsync(0);
    expect(element.textContent).toBe('x '.repeat(200));
    expect(painted).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(painted).toHaveLength(2);
    expect(element.innerHTML).toBe(`<b>${'x '.repeat(200)}</b>`);
  });

  test('keeps its colours while more comes', async () => {
    const { element, code } = growing();
    code.show('one');
    await vi.advanceTimersByTimeAsync(0);
    code.show('one two');
    expect(element.innerHTML).toBe('<b>one</b> two');
  });

  test('that grows on and on waits with its colours until it rests', async () => {
    const { element, code } = growing();
    const long = 'y '.repeat(4_000);
    code.show('y ');
    for (let length = 4; length <= long.length; length += 80) {
      code.show(long.slice(0, length));
      await vi.advanceTimersByTimeAsync(16);
    }
    const paintedBefore = painted.length;
    code.show(long);
    await vi.advanceTimersByTimeAsync(2_000);
    expect([painted.length, painted.at(-1)]).toEqual([paintedBefore + 1, long]);
    expect(
      Math.max(...painted.slice(0, -1).map(text => text.length))
    ).toBeLessThan(6_100);
    expect(element.textContent).toBe(long);
  });

  test('another code takes its place whole', async () => {
    const { element, code } = growing();
    code.show('one');
    code.show('two');
    await vi.advanceTimersByTimeAsync(0);
    expect(element.innerHTML).toBe('<b>two</b>');
  });

  test('without colours stays as it is', async () => {
    vi.useFakeTimers();
    const warned = vi.spyOn(console, 'warn').mockReturnValue(undefined);
    const element = document.createElement('code');
    new ProgressiveHighlighter(element, () =>
      Promise.reject(new Error('no pen'))
    ).show('one');
    await vi.advanceTimersByTimeAsync(0);
    expect(element.textContent).toBe('one');
    expect(warned).toHaveBeenCalledOnce();
  });
});
