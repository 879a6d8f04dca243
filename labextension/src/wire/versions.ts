/**
 * Versions: hashes by which both sides name the exact text they have seen.
 *
 * The server computes the same values (`wire/versions.py`); one fixture table,
 * `tests/wire/fixtures/versions.json`, is checked in both languages. The hash is bundled because
 * `crypto.subtle` is absent on hubs served over plain http.
 */

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

/** Version of the vocabulary; `wire/base.py` holds the same number. */
export const WIRE_VERSION = 1;

const CELL_VERSION_BYTES = 8;
const encoder = new TextEncoder();

/** The first 16 hex digits of SHA-256 over the UTF-8 of a cell's source; lone surrogates count as U+FFFD. */
export function cellVersion(source: string): string {
  return bytesToHex(
    sha256(encoder.encode(source)).slice(0, CELL_VERSION_BYTES)
  );
}

/** SHA-256 as hex over the UTF-8 of a text file's text, each line of which ends in a newline character. */
export function textVersion(text: string): string {
  return bytesToHex(sha256(encoder.encode(text)));
}
