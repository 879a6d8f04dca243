import { describe, expect, test } from 'vitest';

import { readReply } from '../replyParser';

const whole = (text: string, language = '') => ({
  text,
  language,
  isComplete: true
});
const cut = (text: string, language = '') => ({
  text,
  language,
  isComplete: false
});

describe('the text in an answer', () => {
  const table: [string, string, ReturnType<typeof readReply>][] = [
    ['a fence', '````python\na = 1\n````', whole('a = 1', 'python')],
    ['blank lines before it', '\n\n````\na\n````\n', whole('a')],
    ['an empty text', '````python\n````', whole('', 'python')],
    ['no fence at all', 'a = 1\nb = 2\n', whole('a = 1\nb = 2')],
    ['something said before', 'Sure:\n```py\na\n```', whole('a', 'py')],
    ['something said after', '```py\na\n```\nDone.', whole('a', 'py')],
    ['tildes', '~~~r\nx <- 1\n~~~', whole('x <- 1', 'r')],
    ['an indented fence', '  ```\n  if a:\n    b\n  ```', whole('if a:\n  b')],
    [
      'a fence in a longer one',
      '````md\n```py\na\n```\n````',
      whole('```py\na\n```', 'md')
    ],
    [
      'an end that never came',
      '````python\na = 1\nb',
      cut('a = 1\nb', 'python')
    ],
    ['an end that has begun', '````python\na = 1\n``', cut('a = 1', 'python')],
    ['a beginning that has begun', '````pyth', cut('')]
  ];
  test.each(table)('is read from %s', (_, answer, expected) => {
    expect(readReply(answer)).toEqual(expected);
  });

  test('may contain fences where it is prose', () => {
    const text = 'Run this:\n\n```py\na\n```';
    expect(readReply(text, true)).toEqual(whole(text));
    expect(readReply(`\`\`\`md\n${text}\n\`\`\``, true)).toEqual(
      whole(text, 'md')
    );
    expect(readReply(`Here:\n\`\`\`\`md\n${text}\n\`\`\`\``, true)).toEqual(
      whole(text, 'md')
    );
  });

  test('is never more than the text, however far it is written', () => {
    const text = 'a = 1\n\nb = `2`';
    const answer = `\`\`\`\`python\n${text}\n\`\`\`\``;
    for (let end = 1; end <= answer.length; end++) {
      expect(`${text}\n`).toContain(readReply(answer.slice(0, end)).text);
    }
  });
});
