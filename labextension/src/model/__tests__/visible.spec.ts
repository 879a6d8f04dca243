import { expect, test } from 'vitest';

import { visible } from '../visible';

test.each([
  ['fillers', 'pay\uffa0load\u3164\u115f'],
  ['blanks that are no space', 'a\u2800b'],
  ['joiners', 'a\u034fb'],
  ['vowels without a shape', 'a\u17b4\u17b5b'],
  ['Mongolian selectors', 'a\u180b\u180fb'],
  ['selectors that carry bytes', 'x\u{e0100}\u{e01ef}']
])('%s are spelt out', (_, text) => {
  const hidden = Array.from(text).filter(each => !/[a-z]/.test(each));
  const shown = visible(text);
  for (const each of hidden) {
    expect(shown).not.toContain(each);
    expect(shown).toContain(
      (each.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    );
  }
});

test('pictures keep the selectors they need', () => {
  expect(visible('❤️ ☎︎')).toBe('❤️ ☎︎');
});
