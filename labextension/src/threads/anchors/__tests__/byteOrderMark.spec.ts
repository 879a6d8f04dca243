import { expect, test } from 'vitest';

import { locate, remember } from '../anchors';
import type { Anchor } from '../../../wire/generated';
import { textVersion } from '../../../wire/versions';
import { toLab, toServer, withoutMark } from '../byteOrderMark';

const TEXT = 'first line\nsecond line\n';
const MARKED = `\ufeff${TEXT}`;

function anchorOf(quote: string): Anchor {
  const from = TEXT.indexOf(quote);
  const range = { from, to: from + quote.length };
  return {
    ...{ document: 'a.py', cell_id: null, target: 'source', range },
    ...remember(TEXT, range),
    ...{ version: textVersion(TEXT), certainty: 'exact', output: null }
  };
}

test.each(['first line', 'second'])(
  'the anchor of %s is one further on in the page, and as it was for the server',
  quote => {
    const anchor = anchorOf(quote);
    const here = toLab(anchor, MARKED);
    const { from, to } = here.range ?? { from: 0, to: 0 };
    expect(MARKED.slice(from, to)).toBe(quote);
    expect(here.prefix).toBe(MARKED.slice(0, from));
    expect(locate(MARKED, here)).toEqual({
      range: here.range,
      certainty: 'exact'
    });
    expect(toServer(here, MARKED)).toEqual(anchor);
  }
);

test('a selection with the mark is one of the text after it', () => {
  const selected = { from: 0, to: 11 };
  const { text, part } = withoutMark(MARKED, selected);
  expect(text.slice(part.from, part.to)).toBe('first line');
});

test('what has no mark, and what is of another version, is as it was', () => {
  const anchor = { ...anchorOf('second'), version: 'another' };
  expect(toLab(anchor, TEXT)).toBe(anchor);
  expect(toServer(anchor, TEXT)).toBe(anchor);
  expect(toLab(anchor, MARKED).version).toBe('another');
});
