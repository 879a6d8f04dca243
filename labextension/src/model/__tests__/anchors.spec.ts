import { describe, expect, it, test } from 'vitest';

import table from '../../../../tests/wire/fixtures/anchors.json';
import { cellVersion } from '../../wire/versions';
import { locate, remember, type Remembered } from '../anchors';

function anchorIn(
  text: string,
  range: { from: number; to: number } | null
): Remembered {
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
