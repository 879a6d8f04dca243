/**
 * Versions: hashes that name an exact text.
 *
 * The server computes the same values (`wire/versions.py`); both are tested with `tests/wire/fixtures/versions.json`.
 * The hash is bundled because `crypto.subtle` is missing on hubs served over plain http.
 */

import { digest } from 'lib0/hash/sha256';

/** Version of the protocol; `wire/base.py` has the same number. */
export const WIRE_VERSION = 1;

const CELL_VERSION_DIGITS = 16;
const encoder = new TextEncoder();

/** The first 16 hex digits of SHA-256 over a cell's source in UTF-8; lone surrogates count as U+FFFD. */
export function cellVersion(source: string): string {
  return textVersion(source).slice(0, CELL_VERSION_DIGITS);
}

/** The version of a list of cells: which cells, with which sources, in which order. */
export function listVersion(
  cells: readonly { id: string; version: string }[]
): string {
  return cellVersion(
    cells.map(({ id, version }) => `${id} ${version}`).join('\n')
  );
}

/** SHA-256 in hex over a file's text in UTF-8 with newline line endings. */
export function textVersion(text: string): string {
  return Array.from(digest(encoder.encode(text)), byte =>
    byte.toString(16).padStart(2, '0')
  ).join('');
}
