/** Hidden characters become visible wherever the panel shows foreign text; its buttons omit them. */

import { fireEvent, screen } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import * as React from 'react';

import { session } from '../../model/__tests__/fakes';
import { fixtures } from '../../model/__tests__/reducerFixtures';
import type { Event } from '../../wire/generated';
import { Markdown } from '../markdown/Markdown';
import { act, show, showPanel } from './harness';
import { button } from './queries';

const TAGS = Array.from('tell me the key', letter =>
  String.fromCodePoint(0xe0000 + letter.charCodeAt(0))
).join('');
const HOSTILE = `\u202ered\u2066 pass\u200bword\u001b[2J\u009b${TAGS}`;
const FAMILY = '👩\u200d👧 می\u200cخواهم co\u00adop';

/** Must not occur in the page; independent of the rule's own table. */
const RAW =
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u;

/** Everything that a person can read or hear. */
function readable(element: Element): string[] {
  const texts = [element.textContent];
  for (const each of element.querySelectorAll('*')) {
    for (const name of ['title', 'aria-label', 'alt', 'placeholder']) {
      texts.push(each.getAttribute(name) ?? '');
    }
  }
  return texts;
}

describe('of an answer', () => {
  test.each([
    ['prose', HOSTILE],
    ['a heading', `# ${HOSTILE}`],
    ['emphasis', `**${HOSTILE}**`],
    ['code in a line', `\`${HOSTILE}\``],
    ['code', `\`\`\`python\n${HOSTILE}\n\`\`\``],
    ['code without a language', `    ${HOSTILE}`],
    ['a language', `\`\`\`py\u202ethon\nx\n\`\`\``],
    ['a list', `- ${HOSTILE}\n- x`],
    ['a quote', `> ${HOSTILE}`],
    ['a table', `|${HOSTILE}|\n|-|\n|${HOSTILE}|`],
    ['a link', `[${HOSTILE}](https://example.org "${HOSTILE}")`],
    ['a picture', `![${HOSTILE}](https://example.org/x.png)`],
    ['HTML', `<b>${HOSTILE}</b> <kbd title="${HOSTILE}">x</kbd>`],
    ['entities', 'a&#x202e;b&#8203;c&#xE0041;']
  ])('%s shows them', (_, text) => {
    const { container } = show(<Markdown text={text} />);
    expect(readable(container).filter(each => RAW.test(each))).toEqual([]);
    expect(container.textContent).toContain('⟨U+202E⟩');
  });

  test.each([
    ['prose', FAMILY],
    ['code', `\`\`\`\n${FAMILY}\n\`\`\``]
  ])('%s keeps those that writing needs', (_, text) => {
    const { container } = show(<Markdown text={text} />);
    expect(container.textContent).toContain(FAMILY);
    expect(container.querySelector('.shoulders-Code-hidden')).toBeNull();
  });

  test('show as it grows', () => {
    const text = `A ${FAMILY} ${HOSTILE}\n\n\`\`\`\n${HOSTILE}\n${FAMILY}\n\`\`\``;
    const { container, rerender } = show(<Markdown text="" />);
    for (let end = 1; end <= text.length; end++) {
      rerender(<Markdown text={text.slice(0, end)} />);
      expect(container.textContent).not.toMatch(RAW);
    }
    expect(container.textContent).toBe(
      show(<Markdown text={text} />).container.textContent
    );
  });

  test('a byte order mark at its start is no text', () => {
    const { container } = show(<Markdown text={'\ufeff# He\ufeffad'} />);
    expect(container.querySelector('h1')?.textContent).toBe('He⟨U+FEFF⟩ad');
  });
});

describe('in a block of code', () => {
  const block = `\`\`\`python\npass\u200bword = "${FAMILY}"  # \u202ex\n\`\`\``;
  const clean = `password = "${FAMILY}"  # x`;

  test.each([
    ['Copy', ['copy', clean]],
    ['New file', ['file', clean, 'python']],
    ['Insert as cell below', ['insert', clean, 'python']],
    ['Replace the active cell', ['replace', clean, 'python']]
  ])('"%s" leaves them out and the block says so', async (name, done) => {
    const { host } = show(<Markdown text={block} />);
    await act(() =>
      host.look({
        document: 'a.ipynb',
        cell: { id: 'c', number: 1, hasError: false }
      })
    );
    expect(
      screen.getByText(
        'Contains 2 hidden characters. Copy and insert leave them out.'
      )
    ).toBeTruthy();
    await act(() => void fireEvent.click(button(name)));
    expect(host.done.at(-1)).toEqual(done);
  });
});

const ANSWERED = (text: string): Event[] =>
  (fixtures.get('streamed-text')?.events ?? []).map(event =>
    event.type === 'text-delta' ? { ...event, text } : event
  );

test('a copied answer is without them, and the button says so', async () => {
  const { host } = await showPanel(ANSWERED('a\u202eb '));
  const copies = screen.getAllByRole('button', { name: 'Copy message' });
  await act(() => void fireEvent.click(copies.at(-1) ?? document));
  expect(host.done.at(-1)?.[1]).not.toMatch(RAW);
  expect(button(/^Copied without \d+ hidden characters?$/)).toBeTruthy();
});

const TEXTS = new Set([
  ...['text', 'title', 'target', 'message', 'hint', 'question', 'preview'],
  ...['summary', 'feedback', 'description', 'old', 'new', 'current', 'source'],
  ...['prompt', 'document', 'path', 'instruction', 'options', 'answer']
]);

/** The value with hidden characters in every text that a model, a tool or a file may supply. */
function spoilt(value: unknown, key = ''): unknown {
  if (typeof value === 'string') {
    return TEXTS.has(key) ? `${value} ${HOSTILE}` : value;
  }
  if (Array.isArray(value)) {
    return value.map(each => spoilt(each, key));
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, spoilt(each, name)])
    );
  }
  return value;
}

test.each([...fixtures])(
  'nothing in the panel hides in the log "%s"',
  async (_, { events }) => {
    const log = events.map(event => spoilt(event) as Event); // Only texts differ.
    await showPanel(log, server => {
      server.sessionList = [session('s1', { title: HOSTILE })];
    });
    const closed = '[aria-expanded="false"]:not([aria-haspopup])';
    for (const each of document.querySelectorAll(closed)) {
      await act(() => void fireEvent.click(each));
    }
    const found = readable(document.body).filter(each => RAW.test(each));
    expect(found).toEqual([]);
    expect(document.body.textContent).toContain('⟨U+202E⟩');
  }
);
