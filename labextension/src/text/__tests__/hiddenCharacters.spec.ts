import { describe, expect, test } from 'vitest';

import table from '../../../../tests/wire/fixtures/hidden_characters.json';
import { legible, visible, withoutHidden } from '../hiddenCharacters';

// The commands and the kernel use the same table: tests/wire/test_hidden_characters.py.
const LOOKED_AT = [...codes(0, 0x1ffff), ...codes(0xe0000, 0xe0fff)];

function codes(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

function inRanges(ranges: readonly string[]): number[] {
  return ranges.flatMap(range => {
    const [first, last = first] = range.split('-');
    return codes(parseInt(first ?? '', 16), parseInt(last ?? '', 16));
  });
}

test('exactly these characters are hidden', () => {
  const found = LOOKED_AT.filter(code => {
    const character = String.fromCodePoint(code);
    return visible(character) !== character;
  });
  expect(found).toEqual(inRanges(table.hidden));
});

test.each(Object.entries(table.needed))(
  'a %s is needed behind exactly these',
  (_, { text, behind }) => {
    const found = LOOKED_AT.filter(code => {
      const character = String.fromCodePoint(code);
      return (
        withoutHidden(character + text).hidden ===
        withoutHidden(character).hidden
      );
    });
    expect(found).toEqual(inRanges(behind));
  }
);

describe.each(table.cases)('$name', ({ text, clean, hidden }) => {
  test('keeps what it needs', () => {
    expect(withoutHidden(text)).toEqual({ text: clean, hidden });
    expect(legible(text) === text).toBe(hidden === 0);
  });

  test('shows the rest as codes', () => {
    expect(legible(text).replace(/⟨U\+[0-9A-F]{4,}⟩/g, '')).toBe(clean);
    expect(withoutHidden(legible(text)).hidden).toBe(0);
  });
});

test.each([
  ['fillers', 'pay\uffa0load\u3164\u115f'],
  ['blanks that are no space', 'a\u2800b'],
  ['joiners', 'a\u034fb'],
  ['vowels without a shape', 'a\u17b4\u17b5b'],
  ['Mongolian selectors', 'a\u180b\u180fb'],
  ['selectors that carry bytes', 'x\u{e0100}\u{e01ef}'],
  ['joiners of emoji', 'x👩\u200d👧']
])('%s are spelt out in what is approved', (_, text) => {
  const hidden = Array.from(text).filter(each => !/[a-z👩👧]/u.test(each));
  const shown = visible(text);
  for (const each of hidden) {
    expect(shown).not.toContain(each);
    expect(shown).toContain(
      (each.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    );
  }
});

test('pictures keep the selectors they need', () => {
  expect(visible('❤️ ☎︎ 1\ufe0f\u20e3')).toBe('❤️ ☎︎ 1\ufe0f\u20e3');
});
