"""Finds private keys of several lines: PEM, OpenSSH, PGP, PuTTY. Used by ``redaction``.

Linear in the text: matches found far ahead are remembered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jupyter_ai_shoulders.core.redaction.search_text import Span

LONGEST_BLOCK = 16_384
"""Maximum number of characters of a block held back: an RSA key of 16,384 bits has 13,000."""

_BEGIN = re.compile(
    rb"-{4,5} ?BEGIN[ A-Z0-9_-]{0,60}PRIVATE KEY(?: BLOCK)? ?-{4,5}|PuTTY-User-Key-File-[0-9]:"
)
_END = re.compile(
    rb"-{4,5} ?END[ A-Z0-9_-]{0,60}PRIVATE KEY(?: BLOCK)? ?-{4,5}|Private-MAC: *[0-9a-f]{40,64}"
)
_QUOTE = re.compile(rb'(?<!\\)(?:\\\\)*"')
"""The end of a JSON string, which also ends the key."""
_BETWEEN = rb"(?:[\s|:>#+,*'0-9]|\\+(?=\s)|(?<!\\)\\(?:\\\\)*\")"
_CUT_OFF = re.compile(
    rb"(?:(?:%b{1,24}(?:(?:Proc-Type|DEK-Info|Version|Comment|Encryption): ?[^\s\"\\]{1,80})"
    rb"|%b{1,24}[A-Za-z0-9+/=]{16,})++(?:\s{1,2}[A-Za-z0-9+/=]{1,76}(?![A-Za-z0-9+/=]))?)?"
    % (_BETWEEN, _BETWEEN)
)
"""The text after the first line of a block without its last line."""
_OPEN_BEGIN = re.compile(rb"-{1,5}(?:(?<=-{4}) ?(?:B|BE|BEG|BEGI|BEGIN[ A-Z0-9_-]{0,80})?)?\Z")
_LONGEST_BEGIN = 100
_LINE = re.compile(rb"[A-Za-z-]{3,20}: |-{4,5} ?E")
"""The start of a line with several words that a block may contain."""


def private_key_spans(view: bytes) -> Iterator[Span]:
    """Yield the spans of private keys; for an unterminated key, as far as it looks like one."""
    if b"BEGIN" not in view and b"PuTTY" not in view:
        return
    ends, quotes = _ForwardSearch(_END, view), _ForwardSearch(_QUOTE, view)
    after = 0
    while (begin := _BEGIN.search(view, after)) is not None:
        end, quote = ends.after(begin.end()), quotes.after(begin.end())
        if end is not None and (quote is None or quote.start() >= end.start()):
            after = end.end()
        else:
            after = _end_of_cut_off(view, begin.end())
        yield begin.start(), after


def unfinished_private_key_start(view: bytes) -> int:
    """Return the start of an unterminated private key; the text's length if there is none."""
    tail = view[-LONGEST_BLOCK:]
    moved = len(view) - len(tail)
    at = max(tail.rfind(b"BEGIN"), tail.rfind(b"PuTTY-"))
    if at >= 0:
        begin = _BEGIN.search(tail, max(0, at - len("----- ")))
        if begin is not None and _may_go_on(tail[begin.end() :]):
            return moved + begin.start()
    line = tail[-_LONGEST_BEGIN:]
    opened = _OPEN_BEGIN.search(line) if b"-" in line else None
    return len(view) if opened is None else len(view) - len(line) + opened.start()


class _ForwardSearch:
    """Searches a pattern at increasing positions, reading the text once."""

    def __init__(self, pattern: re.Pattern[bytes], view: bytes) -> None:
        self._pattern = pattern
        self._view = view
        self._found: re.Match[bytes] | None = None
        self._searched = False

    def after(self, at: int) -> re.Match[bytes] | None:
        """Return the first match at or after a position; positions must not decrease."""
        if not self._searched or (self._found is not None and self._found.start() < at):
            self._found = self._pattern.search(self._view, at)
            self._searched = True
        return self._found


def _end_of_cut_off(view: bytes, begin: int) -> int:
    found = _CUT_OFF.match(view, begin)
    return begin if found is None else found.end()


def _may_go_on(body: bytes) -> bool:
    """Return whether this can be the lines of a key: one word per line, or a field."""
    if _END.search(body) is not None:
        return False
    lines = body.split(b"\n")
    return all(len(line.split()) <= 1 or _LINE.match(line) for line in lines) or all(
        len(word) >= 40 for word in body.split()[:-1]
    )
