import { expect, test } from 'vitest';

import {
  isLiteralPlusPlus,
  languageOf,
  type ILanguages
} from '../literalPlusPlus';
import { EventStream } from '../suggestionRequests';
import { isDoubleStroke } from '../doublePlusTrigger';
import { firstWord } from '../suggestionState';

test.each([
  ['quickly, behind the first', { end: 5, time: 1000 }, 5, 1300, true],
  ['slowly', { end: 5, time: 1000 }, 5, 1301, false],
  ['elsewhere', { end: 5, time: 1000 }, 6, 1010, false],
  ['as the first', null, 5, 1000, false]
])('a stroke %s', (_, first, at, time, expected) => {
  expect(isDoubleStroke(first, at, time)).toBe(expected);
});

test.each([
  ['in Python', 'python', false, 'i', false],
  ['at the start of a text', 'python', false, '', false],
  ['in a language that has it', 'c++', false, ' ', true],
  ['in Markdown', 'markdown', false, ' ', true],
  ['in a text of no language', '', false, ' ', true],
  ['behind a name in a comment', 'python', true, 'C', true],
  ['behind a blank in a comment', 'python', true, ' ', false]
])('++ %s', (_, language, isQuoted, before, expected) => {
  const around = { language, isQuoted, before };
  expect(isLiteralPlusPlus(around, ['c++', 'javascript'])).toBe(expected);
});

const LANGUAGES: ILanguages = {
  byType: type =>
    ({
      'text/x-ipython': 'ipython',
      'text/x-ipythongfm': 'ipythongfm',
      'text/x-c++src': 'C++',
      'text/plain': 'none'
    })[type] ?? null,
  byName: name =>
    ({ javascript: 'Javascript', shell: 'Shell', html: 'HTML' })[name] ?? null
};

test.each([
  ['text/x-ipython', 'x = 1', 'python'],
  ['text/x-ipythongfm', '# Title', 'markdown'],
  ['text/x-c++src', '%%html', 'c++'],
  ['text/plain', '', ''],
  ['text/unheard-of', '', ''],
  ['text/x-ipython', '%%js\ni', 'javascript'],
  ['text/x-ipython', '\n%%bash\nls', 'shell'],
  ['text/x-ipython', '%%time\nx = 1', 'python']
])('the language of %s with %j is %s', (type, text, expected) => {
  expect(languageOf(type, text, LANGUAGES)).toBe(expected);
});

test.each([
  ['plot(x)', 'plot'],
  ['.plot(x)', '.'],
  [' == 3', ' =='],
  ['\n    return été', '\n    return'],
  ['数据_2 + 1', '数据_2'],
  ['   ', '   ']
])('the first word of %j is %j', (text, expected) => {
  expect(firstWord(text)).toBe(expected);
});

test('a stream of events is read whatever its pieces are', () => {
  const text =
    ': hello\n\nevent: a\ndata: {"n":1}\n\ndata: x\r\ndata: y\r\n\r\n';
  for (let size = 1; size <= text.length; size++) {
    const stream = new EventStream();
    const found: string[] = [];
    for (let at = 0; at < text.length; at += size) {
      found.push(...stream.push(text.slice(at, at + size)));
    }
    expect(found).toEqual(['{"n":1}', 'x\ny']);
  }
});
