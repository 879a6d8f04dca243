"""Measures JSON text before it is parsed.

Parsing and validation hold the GIL, at about a microsecond per value; strings cost almost nothing.
So the time is bounded by the number of values, not of bytes. Used for request bodies, frames of the
page socket and configuration files.
"""

from __future__ import annotations

from collections.abc import Iterator

MOST_ESCAPES = 2_000_000
"""Maximum number of backslashes in a text: each costs a parser about fifty nanoseconds."""
DEEPEST = 100
"""Maximum nesting: parsers fail at 200 levels or run out of stack."""
_CHUNK = 1 << 16
"""Bytes measured at once; other threads run between chunks."""
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def json_excess(text: bytes, most_values: int) -> str | None:
    """Describe how JSON text exceeds the limits, as in "more than 100 values"; None if it does not.

    Values are counted by commas and opening brackets outside strings. The text need not be valid.
    """
    values = escapes = depth = deepest = 0
    for outside, escaped in _chunks(text):
        values += outside.count(b",") + outside.count(b"[") + outside.count(b"{")
        escapes += escaped
        if values > most_values:
            return f"more than {most_values:,} values"
        if escapes > MOST_ESCAPES:
            return f"more than {MOST_ESCAPES:,} escaped characters"
        for bracket in outside.translate(None, _NO_BRACKETS):
            depth += 1 if bracket in b"[{" else -1
            deepest = max(deepest, depth)
        if deepest > DEEPEST:
            return f"more than {DEEPEST} levels of nesting"
    return None


def _chunks(text: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield the part of each chunk outside strings, and the chunk's number of backslashes."""
    carried = b""
    in_string = 0
    for start in range(0, len(text), _CHUNK):
        chunk = text[start : start + _CHUNK]
        escapes = chunk.count(b"\\")
        if escapes or carried:
            chunk = (carried + chunk).replace(b"\\\\", b"")
            carried = b"\\" if chunk.endswith(b"\\") else b""
            chunk = chunk.removesuffix(carried).replace(b'\\"', b"")
        pieces = chunk.split(b'"')
        yield b"".join(pieces[in_string::2]), escapes
        in_string ^= (len(pieces) - 1) & 1
