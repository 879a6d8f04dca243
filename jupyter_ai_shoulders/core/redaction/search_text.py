r"""Prepares text for the search for secrets. Used by ``redaction``.

A view is a line break followed by one byte per character. Escapes become blanks, because in JSON a
key at the start of a line follows the letter of ``\n``.
"""

from __future__ import annotations

import re

Span = tuple[int, int]
"""A range in a view, end excluded."""

_ESCAPES = ((b"\\n", b" \n"), (b"\\r", b"  "), (b"\\t", b"  "))
_COLOUR = re.compile(rb"(?:\x1b|\\u001[bB])\[[0-9;]{0,20}m")
_PERCENT = re.compile(rb"%[0-9A-Fa-f]{2}")


def to_search_text(text: str) -> bytes:
    """Return the text in Latin-1 after a line break; other characters become question marks."""
    view = b"\n" + text.encode("latin-1", "replace")
    if b"\\" in view:
        for escape, blank in _ESCAPES:
            view = view.replace(escape, blank)
    if b"\x1b[" in view or b"\\u001" in view:
        view = _COLOUR.sub(_blank, view)
    if b"%" in view:
        view = _PERCENT.sub(b"%%%", view)
    return view


def _blank(found: re.Match[bytes]) -> bytes:
    return b" " * len(found.group())
