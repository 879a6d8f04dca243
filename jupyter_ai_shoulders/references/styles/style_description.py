"""What a style says of itself: title, kind, language. Pure, without an XML parser.

Used by ``references.styles.citation_styles`` for lists; the worker process parses the style when it
is used.
"""

from __future__ import annotations

import html
import re
from typing import Literal

StyleKind = Literal["author-date", "numeric", "note", "other"]

_HEAD = 40_000
"""Characters at the beginning of a style that have its description."""
_TITLE = re.compile(r"<title[^<>]*>([^<]{1,300})</title>")
_FORMAT = re.compile(r'citation-format="([a-z-]{1,30})"')
_STYLE = re.compile(r"<style\s([^<>]*)>")
_LOCALE = re.compile(r'default-locale="([A-Za-z-]{2,35})"')
_PARENT = re.compile(r'<link[^<>]*rel="independent-parent"[^<>]*>')
_KINDS: dict[str, StyleKind] = {
    "author-date": "author-date",
    "author": "author-date",
    "numeric": "numeric",
    "note": "note",
}


def style_title(text: str) -> str:
    """Return the title of a style; empty if it has none, or is none."""
    match = _TITLE.search(text[:_HEAD])
    return " ".join(html.unescape(match[1]).split()) if match else ""


def style_kind(text: str) -> StyleKind:
    """Return how a style cites."""
    match = _FORMAT.search(text[:_HEAD])
    return _KINDS.get(match[1], "other") if match else "other"


def is_dependent(text: str) -> bool:
    """Return whether a style only refers to another one."""
    return _PARENT.search(text[:_HEAD]) is not None


def style_locale(text: str, wanted: str) -> str:
    """Return the locale to render with: the style's own if it has the wanted language."""
    style = _STYLE.search(text[:_HEAD])
    match = _LOCALE.search(style[1]) if style else None
    if match and match[1].partition("-")[0] == wanted.partition("-")[0]:
        return match[1]
    return wanted
