/// <reference types="vite/client" />
import { expect, test } from 'vitest';

import text from '../../../../tests/wire/fixtures/versions.json?raw';
import { cellVersion, textVersion } from '../versions';

// Vite's JSON import rejects lone surrogates, which some rows test.
const table = JSON.parse(text) as {
  name: string;
  source: string;
  version: string;
}[];

test.each(table)('the version of a cell: $name', ({ source, version }) => {
  expect(cellVersion(source)).toBe(version);
});

test.each(table)('the version of a text: $name', ({ source, version }) => {
  const whole = textVersion(source);
  expect([whole.slice(0, 16), whole.length]).toEqual([version, 64]);
});
