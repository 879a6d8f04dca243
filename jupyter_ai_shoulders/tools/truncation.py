"""Truncates long tool output for the model to head and tail. Pure.

Used by ``engine.calls.output_truncation`` for every result; the complete output is a blob that
``read_output`` pages.
"""

from __future__ import annotations

from dataclasses import dataclass

LINE_LIMIT = 2_000
BYTE_LIMIT = 50 * 1024
HEAD_SHARE = 0.75

HANDLE_SHOWN = 16
"""Characters of a handle that the model sees and returns; a conversation has few handles."""
_NOTE_LINES = 1
_NOTE_BYTES = 256
"""Most bytes of the note between head and tail, reserved within the limits."""


@dataclass(frozen=True, slots=True)
class TruncationBounds:
    """Bounds of a text's head and tail; the characters between the positions are omitted."""

    head_end: int
    tail_start: int


def truncate(text: str, handle: str = "") -> str:
    """Return ``text`` if it is short enough, else its head and tail with a note between them.

    The note says how to read the rest if the complete text is stored under ``handle``.
    """
    if fits_limits(text):
        return text
    cut = truncation_bounds(text)
    left_out = text[cut.head_end : cut.tail_start]
    lines = left_out.count("\n")
    amount = f"{lines} lines" if lines else f"{len(left_out)} characters"
    more = f"; {continuation_hint(handle, cut.head_end)}" if handle else ""
    head = text[: cut.head_end].removesuffix("\n")
    return f"{head}\n[… {amount} left out{more} …]\n{text[cut.tail_start :]}"


def continuation_hint(handle: str, offset: int = 0) -> str:
    """Return the hint on how to read on in the text stored under a handle."""
    return f'read on with read_output {{"handle": "{handle[:HANDLE_SHOWN]}", "offset": {offset}}}'


def fits_limits(text: str) -> bool:
    """Return whether a text goes to the model unchanged."""
    if len(text) > BYTE_LIMIT:  # a character has at least one byte
        return False
    return len(_lines(text)) <= LINE_LIMIT and _size(text) <= BYTE_LIMIT


def truncation_bounds(text: str) -> TruncationBounds:
    """Return where to cut a text that does not fit."""
    lines, size = LINE_LIMIT - _NOTE_LINES, BYTE_LIMIT - _NOTE_BYTES
    head_lines, head_size = int(lines * HEAD_SHARE), int(size * HEAD_SHARE)
    head = take_head(text, head_lines, head_size)
    tail = take_tail(text, lines - head_lines, size - head_size)
    return TruncationBounds(len(head), len(text) - len(tail))


def take_head(text: str, lines: int, size: int) -> str:
    """Return the beginning of a text that fits these lines and bytes."""
    encoded = "".join(_lines(text[:size])[:lines]).encode("utf-8", "surrogatepass")
    end = min(size, len(encoded))
    while end < len(encoded) and _inside_character(encoded[end]):
        end -= 1
    return encoded[:end].decode("utf-8", "surrogatepass")


def take_tail(text: str, lines: int, size: int) -> str:
    """Return the end of a text that fits these lines and bytes."""
    encoded = "".join(_lines(text[-size:])[-lines:]).encode("utf-8", "surrogatepass")
    start = max(len(encoded) - size, 0)
    while start < len(encoded) and _inside_character(encoded[start]):
        start += 1
    return encoded[start:].decode("utf-8", "surrogatepass")


def _inside_character(byte: int) -> bool:
    """Return whether a byte of UTF-8 continues a character."""
    return byte & 0xC0 == 0x80


def _lines(text: str) -> list[str]:
    """Return lines with their line breaks, counted as people and ``wc`` do."""
    return text.splitlines(keepends=True)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
