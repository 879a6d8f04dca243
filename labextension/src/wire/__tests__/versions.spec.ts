/// <reference types="vite/client" />
import { expect, test } from 'vitest';

import text from '../../../../tests/wire/fixtures/versions.json?raw';
import { cellVersion } from '../versions';

// Vite's own JSON reader refuses lone surrogates, which are the point of some rows.
const table = JSON.parse(text) as {
  name: string;
  source: string;
  version: string;
}[];

test.each(table)('the version of a cell: $name', ({ source, version }) => {
  expect(cellVersion(source)).toBe(version);
});
