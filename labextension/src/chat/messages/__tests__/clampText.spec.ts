import { expect, test } from 'vitest';

import { clampText } from '../UserMessage';

test.each([
  ['short', 'short'],
  ['1\n2\n3\n4\n5', '1\n2\n3\n4\n5'],
  ['1\n2\n3\n4\n5\n6', '1\n2\n3\n4\n5…'],
  ['x'.repeat(300), 'x'.repeat(300)],
  ['x'.repeat(301), `${'x'.repeat(300)}…`],
  ['word '.repeat(70), `${'word '.repeat(60).trim()}…`],
  [`${'x'.repeat(299)}😀`, `${'x'.repeat(299)}…`]
])('of a long message the beginning is shown: %#', (text, expected) => {
  expect(clampText(text)).toBe(expected);
});
