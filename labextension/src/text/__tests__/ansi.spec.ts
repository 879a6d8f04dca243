import { expect, test } from 'vitest';

import { PLAIN, runsOf, type ITextStyle } from '../ansi';

/** Each run's text and the members of its style that are not plain. */
const looks = (text: string): [string, Partial<ITextStyle>][] =>
  runsOf(text).map(({ text: words, style }) => [
    words,
    Object.fromEntries(
      Object.entries(style).filter(
        ([name, value]) => value !== PLAIN[name as keyof ITextStyle]
      )
    )
  ]);

const ESC = '\u001b[';

test.each<[string, string, [string, Partial<ITextStyle>][]]>([
  ['nothing', 'plain', [['plain', {}]]],
  [
    'a colour',
    `${ESC}31mred${ESC}0m on`,
    [
      ['red', { ink: 'red' }],
      ['on', {}]
    ]
  ],
  ['a bright one', `${ESC}92mx`, [['x', { ink: 'green' }]]],
  [
    'paper',
    `${ESC}44mx${ESC}49my`,
    [
      ['x', { paper: 'blue' }],
      ['y', {}]
    ]
  ],
  [
    'several',
    `${ESC}1;3;4;35mx`,
    [['x', { bold: true, italic: true, underline: true, ink: 'magenta' }]]
  ],
  [
    'weights taken back',
    `${ESC}1;2mx${ESC}22my`,
    [
      ['x', { bold: true, dim: true }],
      ['y', {}]
    ]
  ],
  ['one of 256', `${ESC}38;5;196mx`, [['x', { ink: 'red' }]]],
  ['a grey of 256', `${ESC}38;5;250mx`, [['x', { ink: 'white' }]]],
  [
    'one of 16 million',
    `${ESC}48;2;10;200;20;1mx`,
    [['x', { paper: 'green', bold: true }]]
  ],
  ['with colons', `${ESC}38:2:0:0:255mx`, [['x', { ink: 'blue' }]]],
  [
    'inverse',
    `${ESC}7mx${ESC}27my`,
    [
      ['x', { inverse: true }],
      ['y', {}]
    ]
  ],
  [
    'an empty one',
    `${ESC}31mx${ESC}my`,
    [
      ['x', { ink: 'red' }],
      ['y', {}]
    ]
  ],
  ['of eight bits', '\u009b32mx', [['x', { ink: 'green' }]]]
])('%s', (_, text, expected) => {
  expect(looks(text).map(([words, look]) => [words.trim(), look])).toEqual(
    expected
  );
});

test.each([
  ['a title', 'a\u001b]0;title\u0007b'],
  ['a link', 'a\u001b]8;;https://evil.example\u001b\\b\u001b]8;;\u001b\\'],
  ['the clipboard', 'a\u001b]52;c;aGk=\u0007b'],
  ['the cursor', `a${ESC}2J${ESC}10;10H${ESC}3Ab`],
  ['modes', `a${ESC}?25lb${ESC}?1049h`],
  ['a device string', 'a\u001bPq#0;2;0;0;0\u001b\\b'],
  ['a character set', 'a\u001b(Bb'],
  ['a reset', 'a\u001bcb'],
  ['an unfinished one', 'ab\u001b['],
  ['an unfinished title', 'ab\u001b]0;tit'],
  ['an escape alone', 'ab\u001b']
])('%s is dropped', (_, text) => {
  expect(
    looks(text)
      .map(([words]) => words)
      .join('')
  ).toBe('ab');
});

test.each([
  ['a bar', ' 10 %\r 50 %\r100 %', '100 %'],
  ['the end of a bar', '50 %\r100 %\r\ndone', '100 %\ndone'],
  ['lines before it', 'a\nb\rc\nd', 'a\nc\nd'],
  ['a return at the end', 'a\rb\r', 'b'],
  ['lines of Windows', 'a\r\nb\r\r\n', 'a\nb\n']
])('%s is written over', (_, text, expected) => {
  expect(
    runsOf(text)
      .map(run => run.text)
      .join('')
  ).toBe(expected);
});

test('many colours and many escapes are read', () => {
  const text = `${ESC}31mx\r`.repeat(20_000) + '\u001b'.repeat(20_000);
  expect(runsOf(text).map(run => run.text)).toEqual(['x']);
});
