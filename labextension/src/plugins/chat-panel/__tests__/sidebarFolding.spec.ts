import { expect, test } from 'vitest';

import { foldFor, MIN_MAIN_WIDTH, sideOf } from '../sidebarFolding';

test.each([
  [MIN_MAIN_WIDTH, false, null],
  [MIN_MAIN_WIDTH - 1, false, 'other'],
  [105, false, 'other'],
  [105, true, 'panel']
] as const)(
  'a main area of %s px folds, the other side bar folded %s: %s',
  (main, isOtherFolded, fold) => {
    expect(foldFor(main, isOtherFolded)).toBe(fold);
  }
);

test.each([
  ['left', 'left'],
  ['right', 'right'],
  ['main', null],
  ['bubble', null]
] as const)('the panel in %s is in the side bar %s', (place, side) => {
  expect(sideOf(place)).toBe(side);
});
