import { describe, expect, it, test } from 'vitest';

import table from '../../../../../tests/wire/fixtures/anchors.json';
import { cellVersion } from '../../../wire/versions';
import { findReformatted } from '../anchorRewrites';
import { locate, remember, type AnchorMemory } from '../anchors';

function anchorIn(
  text: string,
  range: { from: number; to: number } | null
): AnchorMemory {
  return {
    cell_id: 'c',
    range,
    ...(range === null
      ? { quote: '', prefix: '', suffix: '' }
      : remember(text, range)),
    version: cellVersion(text),
    certainty: 'exact'
  };
}

test.each(table)('$name', ({ text, made_in, range, found }) => {
  expect(locate(text, anchorIn(made_in, range))).toEqual(found);
});

describe('an uncertain anchor', () => {
  it('is not certain because nothing was changed since', () => {
    const text = 'a = 1\na = 1\n';
    const anchor = anchorIn(text, { from: 6, to: 11 });

    const found = locate(text, { ...anchor, certainty: 'approximate' });

    expect(found).toEqual({
      range: { from: 6, to: 11 },
      certainty: 'approximate'
    });
  });

  it('keeps no half of a character', () => {
    const text = '😀'.repeat(80);

    const { prefix, suffix } = remember(text, { from: 80, to: 82 });

    expect([prefix, suffix].map(each => each.length % 2)).toEqual([0, 0]);
  });
});

describe('a quote that was rewritten', () => {
  it('is looked for in time that grows with the text only', () => {
    const text = `${'a b '.repeat(50_000)}c`;
    expect(findReformatted(text, `${'a b '.repeat(5_000)}d`, 10)).toEqual([]);
  });

  it.each([
    ['f(a,\n  b,\n)', 'f(a, b)', 'f(a,\n  b,\n)'],
    ["x = 'y'", 'x="y"', "x = 'y'"],
    ['[1, 2 ,]', '2,', '2 ,'],
    ['a, b', ',', ',']
  ])('in %j, %j is %j', (text, quote, found) => {
    const places = findReformatted(text, quote, 5);
    expect(places.map(({ from, to }) => text.slice(from, to))).toEqual([found]);
  });
});
