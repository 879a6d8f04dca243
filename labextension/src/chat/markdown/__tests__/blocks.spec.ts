import { expect, test } from 'vitest';

import { makeSplitter } from '../blocks';

const TEXT = `# Title

Some *text* that goes
on over lines
===

- one
- two

  still two
  - nested

1. a

> quote
> more

\`\`\`python
x = 1

# not a heading
\`\`\`

| a | b |
|---|---|
| 1 | 2 |

    indented

<details><summary>s</summary>

inner

</details>

last [link][ref]

***

[ref]: https://example.org
`;

const raws = (text: string, split = makeSplitter()) =>
  split(text).map(({ type, raw }) => `${type}:${raw}`);

test.each([1, 2, 3, 7, 20])(
  'a text that grows by %i characters has the blocks of the whole',
  step => {
    const split = makeSplitter();
    for (let end = 0; end <= TEXT.length; end += step) {
      const text = TEXT.slice(0, end);
      expect(raws(text, split)).toEqual(raws(text));
    }
    expect(raws(TEXT, split)).toEqual(raws(TEXT));
  }
);

test('complete blocks are the same objects while the last one grows', () => {
  const split = makeSplitter();
  const [first] = split('one\n\ntwo');
  const [again, , last] = split('one\n\ntwo and more');
  expect(again).toBe(first);
  expect(last?.raw).toBe('two and more');
});

test('another text starts from the beginning', () => {
  const split = makeSplitter();
  split('one\n\ntwo');
  expect(raws('# other', split)).toEqual(['heading:# other']);
});
